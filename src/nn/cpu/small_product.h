#pragma once

// Products of matrices that fit into the cache. Internal linkage only, as in dense_kernels.h.

#include "nn/cpu/dense_kernels.h"

namespace subfleet::cpu {
namespace {

inline constexpr size_t kProductRows = 6;  // of the left matrix, times a few vectors, fill the registers

// C = A B, or C += A B, with B and C row by row and A's element (m, k) at a[m * step_m + k * step_k].
struct SmallProduct {
  size_t m = 0, n = 0, k = 0;
  const float* a = nullptr;
  size_t step_m = 0, step_k = 0;
  const float* b = nullptr;
  float* c = nullptr;
  bool adds = false;
};

template <typename V, size_t Rows, size_t Wide>
void product_tile(const SmallProduct& p, const float* a, size_t column, float* c) {
  V sums[Rows][Wide];
#pragma GCC unroll 6
  for (size_t m = 0; m < Rows; ++m) {
#pragma GCC unroll 4
    for (size_t v = 0; v < Wide; ++v) {
      sums[m][v] = p.adds ? V::load(c + m * p.n + column + v * V::kLanes) : V::zero();
    }
  }
  const float* b = p.b + column;
  for (size_t k = 0; k < p.k; ++k, b += p.n, a += p.step_k) {
    V right[Wide];
#pragma GCC unroll 4
    for (size_t v = 0; v < Wide; ++v) right[v] = V::load(b + v * V::kLanes);
#pragma GCC unroll 6
    for (size_t m = 0; m < Rows; ++m) {
      const V left = V::all(a[m * p.step_m]);
#pragma GCC unroll 4
      for (size_t v = 0; v < Wide; ++v) sums[m][v] = V::fma(left, right[v], sums[m][v]);
    }
  }
#pragma GCC unroll 6
  for (size_t m = 0; m < Rows; ++m) {
#pragma GCC unroll 4
    for (size_t v = 0; v < Wide; ++v) sums[m][v].store(c + m * p.n + column + v * V::kLanes);
  }
}

template <typename V>
void small_product(const SmallProduct& p) {
  constexpr size_t kWide = V::kLanes == 16 ? 4 : 2;
  for_batch_tiles<kProductRows>(p.m, [&]<size_t kRows>(size_t first) {
    const float* a = p.a + first * p.step_m;
    float* c = p.c + first * p.n;
    size_t column = 0;
    for (; column + kWide * V::kLanes <= p.n; column += kWide * V::kLanes)
      product_tile<V, kRows, kWide>(p, a, column, c);
    for (; column + 2 * V::kLanes <= p.n; column += 2 * V::kLanes) product_tile<V, kRows, 2>(p, a, column, c);
    for (; column < p.n; column += V::kLanes) product_tile<V, kRows, 1>(p, a, column, c);
  });
}

}  // namespace
}  // namespace subfleet::cpu
