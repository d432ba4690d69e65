#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "base/host_device.h"
#include "subfleet/partial_sum.h"

// What the host's loops over all weights and the GPU's kernels have in common.
namespace subfleet {

constexpr size_t kWeightRange = size_t{1} << 16;

// How many ranges so many weights make.
constexpr size_t weight_range_count(size_t weights) { return (weights + kWeightRange - 1) / kWeightRange; }

// std::isfinite as a comparison, which vectors have: 0 or 1.
SUBFLEET_HOST_DEVICE inline uint32_t is_finite(float value) {
  return std::abs(value) <= std::numeric_limits<float>::max() ? 1u : 0u;
}

// Over how many examples a weight's updates are averaged, from those of its holders: 0 stays 0.
struct Averaging {
  bool over_all = false;
  uint32_t examples = 0;  // of the round

  SUBFLEET_HOST_DEVICE uint32_t operator()(uint32_t holders) const {
    return over_all && holders != 0 ? examples : holders;
  }
};

// |mean|^2 of a round's updates is summed in one order on every device. A range of weights has kNormLanes
// lanes: the first adds the range's weights 0, kNormLanes, 2 kNormLanes, ..., the second those after them.
// The upper half of the lanes is added to the lower until one is left; the ranges are added in their order.
constexpr size_t kNormLanes = 1024;

// What one weight adds: its squared mean, counted by the share of the examples (at least 1) that it is a mean
// over.
SUBFLEET_HOST_DEVICE inline double squared_mean(int64_t sum, uint32_t holders, double examples) {
  const double mean = PartialSum::mean_of(sum, holders);
  return static_cast<double>(holders) / examples * mean * mean;
}

inline double sum_of_ranges(std::span<const double> ranges) {
  double sum = 0;
  for (const double range : ranges) sum += range;
  return sum;
}

}  // namespace subfleet
