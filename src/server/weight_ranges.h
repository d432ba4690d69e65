#pragma once

#include <algorithm>
#include <cstddef>

#include "subfleet/thread_pool.h"

namespace subfleet {

// Calls body(begin, end) over all weights, in pieces that the pool shares out.
template <typename Body>
void for_weight_ranges(size_t weights, ThreadPool& pool, Body&& body) {
  constexpr size_t kPiece = size_t{1} << 18;
  pool.parallel_for((weights + kPiece - 1) / kPiece, [&](size_t piece, size_t) {
    body(piece * kPiece, std::min(weights, (piece + 1) * kPiece));
  });
}

}  // namespace subfleet
