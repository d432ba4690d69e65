#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <unordered_set>

#include "subfleet/data.h"
#include "subfleet/error.h"
#include "subfleet/random.h"

namespace subfleet {
namespace {

// A client always keeps something to train with.
uint32_t test_count(uint32_t samples, double fraction) {
  if (samples == 0) return 0;
  return std::min(static_cast<uint32_t>(std::lround(samples * fraction)), samples - 1);
}

// Keeps only the wanted examples, moved to the front.
void select(Examples& examples, const std::vector<bool>& mask, bool wanted) {
  size_t kept = 0;
  for (size_t i = 0; i < examples.count(); ++i) {
    if (mask[i] != wanted) continue;
    if (kept != i) {
      const std::span<const float> input = examples.input(i);
      std::copy(input.begin(), input.end(), examples.inputs.data() + kept * examples.features);
      examples.labels[kept] = examples.labels[i];
    }
    ++kept;
  }
  examples.inputs.resize(kept * examples.features);
  examples.labels.resize(kept);
}

void append(Examples& to, const Examples& from) {
  to.inputs.insert(to.inputs.end(), from.inputs.begin(), from.inputs.end());
  to.labels.insert(to.labels.end(), from.labels.begin(), from.labels.end());
}

// So many of them, in their order; 0 is all.
Examples drawn(const Examples& all, uint64_t limit, uint64_t seed) {
  if (limit == 0 || limit >= all.count()) return all;
  std::vector<uint32_t> order(all.count());
  std::iota(order.begin(), order.end(), 0u);
  Random random({.seed = seed, .purpose = Purpose::kTestChoice});
  random.shuffle(std::span(order));
  std::vector<bool> mask(all.count(), false);
  for (uint64_t i = 0; i < limit; ++i) mask[order[i]] = true;
  Examples chosen = all;
  select(chosen, mask, true);
  return chosen;
}

}  // namespace

SplitFederation::SplitFederation(std::shared_ptr<const Federation> all, uint64_t seed, double test_fraction)
    : all_(std::move(all)), seed_(seed), test_fraction_(test_fraction) {
  if (!(test_fraction >= 0 && test_fraction < 1)) {
    throw bad_request("data.test_fraction", fmt::format("{} is not in [0, 1)", test_fraction));
  }
}

uint32_t SplitFederation::test_samples(uint32_t client) const {
  if (all_->own_test_set() != nullptr) return 0;
  const std::optional<uint32_t> own = all_->own_test_samples(client);
  return own ? *own : test_count(all_->samples(client), test_fraction_);
}

std::vector<bool> SplitFederation::test_mask(uint32_t client) const {
  const uint32_t samples = all_->samples(client);
  const uint32_t tests = test_samples(client);
  std::vector<bool> mask(samples, false);
  if (all_->own_test_samples(client)) {
    std::fill(mask.end() - tests, mask.end(), true);
    return mask;
  }
  std::vector<uint32_t> order(samples);
  std::iota(order.begin(), order.end(), 0u);
  Random random({.seed = seed_, .client = client, .purpose = Purpose::kTestSplit});
  random.shuffle(std::span(order));
  for (uint32_t i = 0; i < tests; ++i) mask[order[i]] = true;
  return mask;
}

uint32_t SplitFederation::train_samples(uint32_t client) const {
  return all_->samples(client) - test_samples(client);
}

void SplitFederation::read_train(uint32_t client, Examples& into) const {
  all_->read(client, into);
  select(into, test_mask(client), false);
}

Examples SplitFederation::train(uint32_t client) const {
  Examples examples;
  read_train(client, examples);
  return examples;
}

Examples SplitFederation::test(uint32_t client) const {
  Examples examples = all_->load(client);
  select(examples, test_mask(client), true);
  return examples;
}

Examples SplitFederation::test_set(uint64_t limit) const {
  if (const Examples* own = all_->own_test_set()) return drawn(*own, limit, seed_);
  Examples chosen{.features = all_->input().size(), .inputs = {}, .labels = {}};
  if (limit == 0) {
    for (uint32_t client = 0; client < clients(); ++client) append(chosen, test(client));
    return chosen;
  }
  // Clients are drawn one by one, so that memory does not grow with their number.
  Random random({.seed = seed_, .purpose = Purpose::kTestChoice});
  std::unordered_set<uint32_t> taken;
  while (chosen.count() < limit && taken.size() < clients()) {
    const uint32_t client = random.below(clients());
    if (taken.insert(client).second) append(chosen, test(client));
  }
  return chosen;
}

}  // namespace subfleet
