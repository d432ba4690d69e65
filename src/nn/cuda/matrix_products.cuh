#pragma once

#include <type_traits>

#include "nn/cuda/layer.h"
#include "nn/cuda/tiles.cuh"

// What dense and lstm do with a matrix of weights [units][inputs] and enough rows of values to make a tile of
// the product worthwhile.
namespace subfleet::cuda {

// y[row][unit] = scale * (value + the biases), then ReLU if `relu`.
struct StoreRows {
  float* y;
  const float *bias, *second_bias;  // the second may be null
  size_t bias_stride;
  int units, rows;
  float scale;
  bool relu;

  template <typename Tile>
  __device__ void finish(int job, int, int first_m, int first_n, const Tile& tile) const {
    float* out = y + static_cast<size_t>(job) * rows * units;
    tile.each([&](int m, int n, float value) {
      m += first_m, n += first_n;
      if (m >= units || n >= rows) return;
      value += bias[job * bias_stride + m];
      if (second_bias != nullptr) value += second_bias[job * bias_stride + m];
      value *= scale;
      out[static_cast<size_t>(n) * units + m] = relu && !(value > 0) ? 0 : value;
    });
  }
};

// dx[row][input] = scale * value; 0 where x is 0, if x is given.
struct StoreRowGradient {
  float* dx;
  const float* x;
  int inputs, rows;
  float scale;

  template <typename Tile>
  __device__ void finish(int job, int, int first_m, int first_n, const Tile& tile) const {
    const size_t begin = static_cast<size_t>(job) * rows * inputs;
    tile.each([&](int m, int n, float value) {
      m += first_m, n += first_n;
      if (m >= inputs || n >= rows) return;
      const size_t at = begin + static_cast<size_t>(n) * inputs + m;
      dx[at] = x != nullptr && !(x[at] > 0) ? 0 : scale * value;
    });
  }
};

struct StepMatrix {
  float* weights;
  size_t stride;
  int inputs, units;
  float client_lr;

  template <typename Tile>
  __device__ void finish(int job, int, int first_m, int first_n, const Tile& tile) const {
    tile.each([&](int m, int n, float value) {
      m += first_m, n += first_n;
      if (m >= inputs || n >= units) return;
      float* w = weights + job * stride + static_cast<size_t>(n) * inputs + m;
      *w = fmaf(-client_lr, value, *w);
    });
  }
};

// A matrix of weights for every job, and `rows` rows of values per job.
struct MatrixSite {
  const Step& step;
  float* weights;
  int inputs, units, rows;
  float rate;  // what a gradient is multiplied by when the weights step
  bool tf32;
};

// y = x W^T + biases.
void multiply_rows(const MatrixSite& site, const float* x, const StoreRows& out);
// dx = dy W.
void row_gradient(const MatrixSite& site, const float* dy, const StoreRowGradient& out);
// W -= rate dy^T x; `x_stride` is from one job's rows to the next's.
void step_matrix(const MatrixSite& site, const float* x, size_t x_stride, const float* dy);
// biases -= rate * the sum of dy's rows, for one bias, or two that have the same gradient.
void step_biases(const MatrixSite& site, const float* dy, float* bias, float* second_bias);

// Sums every value over the lanes of a warp, always in the same order. All lanes get the sums.
template <int kCount>
__device__ inline void warp_sums(float (&values)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
      values[i] += __shfl_xor_sync(0xffffffffu, values[i], distance);
  }
}

// Calls run(integral constant) with the smallest number of rows that a kernel exists for and that is enough,
// or else the largest.
template <typename Run>
void with_rows(int rows, Run&& run) {
  if (rows <= 4) return run(std::integral_constant<int, 4>{});
  if (rows <= 8) return run(std::integral_constant<int, 8>{});
  if (rows <= 10) return run(std::integral_constant<int, 10>{});
  return run(std::integral_constant<int, 16>{});
}

}  // namespace subfleet::cuda
