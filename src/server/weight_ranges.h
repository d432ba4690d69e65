#pragma once

#include <algorithm>
#include <cstddef>

#include "subfleet/thread_pool.h"

namespace subfleet {

constexpr size_t kWeightRange = size_t{1} << 18;

// How many pieces so many weights make.
constexpr size_t weight_range_count(size_t weights) { return (weights + kWeightRange - 1) / kWeightRange; }

// Calls body(begin, end) over all weights, in pieces that the pool shares out.
template <typename Body>
void for_weight_ranges(size_t weights, ThreadPool& pool, Body&& body) {
  pool.parallel_for(weight_range_count(weights), [&](size_t piece, size_t) {
    body(piece * kWeightRange, std::min(weights, (piece + 1) * kWeightRange));
  });
}

}  // namespace subfleet
