#pragma once

#include "nn/cuda/product.cuh"

namespace subfleet::cuda {

// Calls run(tile) with the tile type that suits a product of m x n values.
template <typename Run>
void with_tile(bool tf32, int m, int n, Run&& run) {
  const bool narrow = is_narrow(n);
  if (tf32) {
    if (m <= 64 && narrow) return run(Tf32Tile<64, 32>{});
    return narrow ? run(Tf32Tile<128, 32>{}) : run(Tf32Tile<128, 64>{});
  }
  if (m <= 64 && narrow) return run(F32Tile<32, 32>{});
  return narrow ? run(F32Tile<128, 32>{}) : run(F32Tile<128, 64>{});
}

}  // namespace subfleet::cuda
