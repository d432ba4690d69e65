#pragma once

#include <array>
#include <cstddef>

namespace subfleet::cpu {

inline constexpr size_t kLanes = 16;  // floats of the widest vectors

// The sum of sixteen numbers, always in the same order.
inline float sum_of_lanes(const std::array<float, kLanes>& lanes) {
  std::array<float, kLanes> sums = lanes;
  for (size_t half = kLanes / 2; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  return sums[0];
}

// The sum of value(i) for i < count, in sixteen parts that are added at the end: the same bits at any vector
// width.
template <typename Value>
[[gnu::always_inline]] inline float lane_sum(size_t count, const Value& value) {
  std::array<float, kLanes> lanes{};
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
#pragma omp simd
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += value(i + lane);
  }
  for (size_t lane = 0; i < count; ++i, ++lane) lanes[lane] += value(i);
  return sum_of_lanes(lanes);
}

}  // namespace subfleet::cpu
