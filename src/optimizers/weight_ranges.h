#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "base/wide_vectors.h"
#include "optimizers/weight_math.h"
#include "subfleet/thread_pool.h"

namespace subfleet {

// Calls body(begin, end) for every range of weights; the pool shares them out.
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

}  // namespace subfleet
