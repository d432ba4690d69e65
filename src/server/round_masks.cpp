#include "subfleet/round_masks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "subfleet/error.h"
#include "subfleet/random.h"

namespace subfleet {
namespace {

// The first `count` units of the order that are in the word, ascending.
std::vector<uint32_t> first_of(const CodeBook& book, uint32_t row, const std::vector<uint32_t>& order,
                               size_t count) {
  std::vector<uint32_t> units;
  units.reserve(count);
  for (const uint32_t unit : order) {
    if (units.size() == count) break;
    if (book.bit(row, unit)) units.push_back(unit);
  }
  std::sort(units.begin(), units.end());
  return units;
}

// A family may be the program's own: throws Error, before anything is indexed by its units, if its book is
// not what its contract says.
void check_book(const CodeFamily& family, const BookRequest& request, const CodeBook& book) {
  const std::string what = fmt::format("code family '{}'", family.name());
  if (book.rows() != request.rows || book.length() != request.length) {
    throw bad_request(what, fmt::format("draw() gives {} rows of {} bits; {} of {} were asked for",
                                        book.rows(), book.length(), request.rows, request.length));
  }
  const size_t weight = family.weight(request.length, request.keep);
  for (size_t row = 0; row < book.rows(); ++row) {
    if (book.weight(row) == weight && weight > 0) continue;
    throw bad_request(
        what, fmt::format("row {} of draw() has {} ones; weight() says {}, and at least 1 is needed", row,
                          book.weight(row), weight));
  }
}

// The same for the order of its units.
void check_order(const CodeFamily& family, const BookRequest& request, const std::vector<uint32_t>& order) {
  std::vector<bool> seen(request.length, false);
  for (const uint32_t unit : order) {
    if (unit < seen.size()) seen[unit] = true;
  }
  if (order.size() == request.length && std::ranges::find(seen, false) == seen.end()) return;
  throw bad_request(fmt::format("code family '{}'", family.name()),
                    fmt::format("order() has to name each of the {} units once", request.length));
}

}  // namespace

RoundMasks::RoundMasks(const ModelSpec& model, const CodeOptions& code, uint64_t seed, uint32_t round,
                       uint32_t rows)
    : model_(model), tiers_(code.tiers), rescale_(code.rescale), seed_(seed), rows_(rows) {
  check_code(model, code);
  for (const UnitGroup& group : droppable_groups(model)) {
    const LayerCode own = code.of(group.name);
    const CodeFamily& family = code_family(own.family);
    const BookRequest request{.length = group.units,
                              .rows = rows,
                              .keep = own.keep,
                              .seed = seed,
                              .round = round,
                              .layer = static_cast<uint32_t>(books_.size())};
    books_.push_back(family.draw(request));
    check_book(family, request, books_.back());
    if (tiers_.empty()) continue;
    orders_.push_back(family.order(request));
    check_order(family, request, orders_.back());
  }
}

std::vector<std::vector<uint32_t>> RoundMasks::kept(uint32_t row, uint32_t client) const {
  if (row >= rows_)
    throw bad_request("row", fmt::format("{} of {} rows, which are counted from 0", row, rows_));
  std::vector<std::vector<uint32_t>> kept;
  kept.reserve(books_.size());
  for (size_t layer = 0; layer < books_.size(); ++layer) {
    const CodeBook& book = books_[layer];
    if (tiers_.empty()) {
      kept.push_back(book.kept(row));
      continue;
    }
    const double share = tiers_[client_tier(tiers_.size(), seed_, client)];
    const auto count = static_cast<size_t>(std::llround(share * static_cast<double>(book.weight(row))));
    kept.push_back(first_of(book, row, orders_[layer], std::max<size_t>(count, 1)));
  }
  return kept;
}

size_t client_tier(size_t tiers, uint64_t seed, uint32_t client) {
  Random random({.seed = seed, .client = client, .purpose = Purpose::kTier});
  return random.below(static_cast<uint32_t>(tiers));
}

std::vector<SubModel> draw_submodels(const ModelSpec& model, const CodeOptions& code, uint64_t seed,
                                     uint32_t round, std::span<const uint32_t> clients) {
  const RoundMasks masks(model, code, seed, round, static_cast<uint32_t>(clients.size()));
  std::vector<SubModel> submodels;
  submodels.reserve(clients.size());
  for (uint32_t row = 0; row < clients.size(); ++row) submodels.push_back(masks.submodel(row, clients[row]));
  return submodels;
}

void check_code(const ModelSpec& model, const CodeOptions& code) {
  const std::vector<UnitGroup> groups = droppable_groups(model);
  std::vector<std::string> droppable;
  for (const UnitGroup& group : groups) droppable.push_back(group.name);
  for (const auto& [name, own] : code.layers) {
    if (std::find(droppable.begin(), droppable.end(), name) != droppable.end()) continue;
    if (droppable.empty())
      throw bad_request("code.layers", fmt::format("{} has no droppable layers", model.name));
    throw unknown_name("code.layers", name, droppable);
  }
  code_family(code.family);
  for (const UnitGroup& group : groups) {
    const LayerCode own = code.of(group.name);
    try {
      code_family(own.family).weight(group.units, own.keep);
    } catch (const Error& error) {
      throw bad_request(group.name, error.what());
    }
  }
  for (const double share : code.tiers) {
    if (share > 0 && share <= 1) continue;
    throw bad_request("code.tiers", fmt::format("{} is not a fraction above 0 and up to 1", share));
  }
}

}  // namespace subfleet
