#include "data/deal.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "data/label_skew.h"
#include "subfleet/error.h"
#include "subfleet/random.h"

namespace subfleet {
namespace {

constexpr double kLeastAlpha = 1e-3, kMostAlpha = 1e6;  // beyond, one class per client, or all of them alike

// Piece `i` of `pieces` that are equally large, give or take one.
std::span<const uint32_t> piece(std::span<const uint32_t> all, size_t i, size_t pieces) {
  const size_t begin = all.size() * i / pieces, end = all.size() * (i + 1) / pieces;
  return all.subspan(begin, end - begin);
}

std::vector<uint32_t> counted(size_t count) {
  std::vector<uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0u);
  return numbers;
}

// `order` in pieces, of which every client has `each`, drawn by the seed.
ClientIndices deal_pieces(std::span<const uint32_t> order, size_t each, const DataOptions& options) {
  std::vector<uint32_t> pieces = counted(options.clients * each);
  Random random({.seed = options.seed, .purpose = Purpose::kDeal});
  random.shuffle(std::span(pieces));
  ClientIndices clients(options.clients);
  for (size_t i = 0; i < pieces.size(); ++i) {
    const std::span<const uint32_t> dealt = piece(order, pieces[i], pieces.size());
    clients[i / each].insert(clients[i / each].end(), dealt.begin(), dealt.end());
  }
  for (std::vector<uint32_t>& indices : clients) std::sort(indices.begin(), indices.end());
  return clients;
}

ClientIndices deal_iid(std::span<const uint8_t> labels, uint32_t, const DataOptions& options) {
  std::vector<uint32_t> order = counted(labels.size());
  Random random({.seed = options.seed, .round = 1, .purpose = Purpose::kDeal});
  random.shuffle(std::span(order));
  return deal_pieces(order, 1, options);
}

ClientIndices deal_shards(std::span<const uint8_t> labels, uint32_t, const DataOptions& options) {
  const size_t pieces = size_t{options.clients} * options.shards;
  if (options.shards == 0 || pieces > labels.size()) {
    throw bad_request(
        "data.shards",
        fmt::format("{} for each of {} clients cannot be cut from {} images; 1 to {} can", options.shards,
                    options.clients, labels.size(), labels.size() / options.clients));
  }
  std::vector<uint32_t> order = counted(labels.size());
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return labels[a] < labels[b]; });
  return deal_pieces(order, options.shards, options);
}

ClientIndices deal_dirichlet(std::span<const uint8_t> labels, uint32_t classes, const DataOptions& options) {
  if (!(options.dirichlet >= kLeastAlpha && options.dirichlet <= kMostAlpha)) {
    throw bad_request("data.dirichlet",
                      fmt::format("{} is not between {} and {}", options.dirichlet, kLeastAlpha, kMostAlpha));
  }
  return deal_by_label(
      labels,
      {.clients = options.clients, .classes = classes, .alpha = options.dirichlet, .seed = options.seed});
}

struct Partition {
  std::string_view name;
  ClientIndices (*deal)(std::span<const uint8_t>, uint32_t, const DataOptions&);
};

constexpr Partition kPartitions[] = {
    {"auto", deal_dirichlet},
    {"iid", deal_iid},
    {"dirichlet", deal_dirichlet},
    {"shards", deal_shards},
};

}  // namespace

ClientIndices deal(std::span<const uint8_t> labels, uint32_t classes, const DataOptions& options) {
  if (options.clients == 0 || options.clients > labels.size()) {
    throw bad_request("data.clients", fmt::format("{} clients cannot share {} images; 1 to {} can",
                                                  options.clients, labels.size(), labels.size()));
  }
  std::vector<std::string> known;
  for (const Partition& partition : kPartitions) {
    if (partition.name == options.partition) return partition.deal(labels, classes, options);
    known.emplace_back(partition.name);
  }
  throw unknown_name("data.partition", options.partition, known);
}

ClientIndices deal_with_tests(std::span<const uint8_t> labels, size_t training, uint32_t classes,
                              const DataOptions& options) {
  ClientIndices clients = deal(labels.first(training), classes, options);
  for (size_t test = training; test < labels.size(); ++test) {
    clients[(test - training) % clients.size()].push_back(static_cast<uint32_t>(test));
  }
  return clients;
}

uint32_t count_tests(const std::vector<uint32_t>& examples, uint32_t first_test) {
  return static_cast<uint32_t>(examples.end() - std::ranges::lower_bound(examples, first_test));
}

void keep_large(ClientIndices& clients, uint32_t min_samples, std::string_view who) {
  size_t most = 0;
  for (const std::vector<uint32_t>& indices : clients) most = std::max(most, indices.size());
  if (most < min_samples) {
    throw bad_request("data.min_samples", fmt::format("none of the {} {} has {} images; the most is {}",
                                                      clients.size(), who, min_samples, most));
  }
  std::erase_if(clients, [&](const auto& indices) { return indices.size() < min_samples; });
}

}  // namespace subfleet
