#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/wide_vectors.h"
#include "subfleet/thread_pool.h"

namespace subfleet {

constexpr size_t kWeightRange = size_t{1} << 16;

// How many pieces so many weights make.
constexpr size_t weight_range_count(size_t weights) { return (weights + kWeightRange - 1) / kWeightRange; }

// Calls body(begin, end) over all weights, in pieces that the pool shares out.
template <typename Body>
void for_weight_ranges(size_t weights, ThreadPool& pool, Body&& body) {
  pool.parallel_for(weight_range_count(weights), [&](size_t piece, size_t) {
    body(piece * kWeightRange, std::min(weights, (piece + 1) * kWeightRange));
  });
}

// The same on the widest vectors of this CPU, so body is elementwise; returns whether it was always true.
template <typename Body>
bool all_weight_ranges(size_t weights, ThreadPool& pool, Body&& body) {
  std::atomic<bool> all = true;
  for_weight_ranges(weights, pool, [&](size_t begin, size_t end) {
    if (!on_wide_vectors([&] { return body(begin, end); })) all = false;
  });
  return all;
}

// std::isfinite as a comparison, which vectors have: 0 or 1.
inline uint32_t is_finite(float value) {
  return std::abs(value) <= std::numeric_limits<float>::max() ? 1u : 0u;
}

}  // namespace subfleet
