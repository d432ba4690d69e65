#pragma once

#include <span>

#include "optimizers/weight_ranges.h"
#include "subfleet/partial_sum.h"

namespace subfleet {

// w += lr * mean for every weight that somebody held; returns whether all weights are finite.
inline bool move_by_means(std::span<float> weights, const PartialSum& updates, double lr, ThreadPool& pool) {
  const int64_t* sums = updates.sums().data();
  const uint32_t* holders = updates.holders().data();
  float* values = weights.data();
  return all_weight_ranges(weights.size(), pool, [=](size_t begin, size_t end) {
    uint32_t finite = 1;
#pragma omp simd reduction(& : finite)
    for (size_t i = begin; i < end; ++i) {
      const double moved = static_cast<double>(values[i]) + lr * PartialSum::mean_of(sums[i], holders[i]);
      values[i] = holders[i] == 0 ? values[i] : static_cast<float>(moved);
      finite &= is_finite(values[i]);
    }
    return finite != 0;
  });
}

}  // namespace subfleet
