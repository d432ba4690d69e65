#pragma once

#include <cstddef>

namespace subfleet::cpu {

// C = alpha * op(A) * op(B) + beta * C, row by row; op(A) is m x k, op(B) is k x n.
struct MatrixProduct {
  char transpose_a = 'N', transpose_b = 'N';
  size_t m = 0, n = 0, k = 0;
  float alpha = 1;
  const float* a = nullptr;
  size_t stride_a = 0;
  const float* b = nullptr;
  size_t stride_b = 0;
  float beta = 0;
  float* c = nullptr;
  size_t stride_c = 0;
};

void multiply(const MatrixProduct& product);

}  // namespace subfleet::cpu
