#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace subfleet {

struct LabelSkew {
  uint32_t clients = 0;
  uint32_t classes = 0;
  double alpha = 0;  // small: few classes per client; large: all classes for every client
  uint64_t seed = 0;
};

// Deals examples that belong to nobody to clients, as in Hsu et al. 2019, "Measuring the Effects of
// Non-Identical Data Distribution for Federated Visual Classification". Each client draws its classes from a
// mix of its own, taken from the symmetric Dirichlet distribution, while examples of them last. Every example
// is dealt once, and clients differ in size by at most one. Returns each client's indices, ascending. There
// must be at least as many examples as clients, and every label below `classes`.
std::vector<std::vector<uint32_t>> deal_by_label(std::span<const uint8_t> labels, const LabelSkew& skew);

}  // namespace subfleet
