#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace subfleet {

struct LabelSkew {
  uint32_t clients = 0;
  uint32_t classes = 0;
  double alpha = 0;  // small: few classes per client; large: every client has them all
  uint64_t seed = 0;
};

// Deals examples that belong to nobody to clients (Hsu et al. 2019, "Measuring the Effects of Non-Identical
// Data Distribution for Federated Visual Classification"): a client's classes are drawn from a mix of its
// own, which comes from the symmetric Dirichlet distribution, as long as there are examples of them. Every
// example is dealt once and the clients are equally large, give or take one. Gives each client's indices,
// ascending. There are at least as many examples as clients; every label is below `classes`.
std::vector<std::vector<uint32_t>> deal_by_label(std::span<const uint8_t> labels, const LabelSkew& skew);

}  // namespace subfleet
