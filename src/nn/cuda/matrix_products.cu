#include "nn/cuda/matrix_products.cuh"

namespace subfleet::cuda {
namespace {

__global__ void step_biases_kernel(const float* dy, int units, int rows, float* bias, float* second_bias,
                                   size_t stride, float rate) {
  const int unit = blockIdx.x * blockDim.x + threadIdx.x, job = blockIdx.y;
  if (unit >= units) return;
  const float* from = dy + static_cast<size_t>(job) * rows * units + unit;
  float sum = 0;
  for (int row = 0; row < rows; ++row) sum += from[static_cast<size_t>(row) * units];
  float* first = bias + job * stride + unit;
  *first = fmaf(-rate, sum, *first);
  if (second_bias == nullptr) return;
  float* second = second_bias + job * stride + unit;
  *second = fmaf(-rate, sum, *second);
}

}  // namespace

void multiply_rows(const MatrixSite& s, const float* x, const StoreRows& out) {
  const RowMajor a{s.weights, s.step.stride, s.units, s.inputs};
  const RowMajor b{x, static_cast<size_t>(s.rows) * s.inputs, s.rows, s.inputs};
  with_tile(s.tf32, s.units, s.rows, [&](auto tile) {
    launch_product<decltype(tile)>(a, b, out, s.units, s.rows, s.inputs, s.step.jobs, s.step.stream);
  });
}

void row_gradient(const MatrixSite& s, const float* dy, const StoreRowGradient& out) {
  const ColumnMajor a{s.weights, s.step.stride, s.inputs, s.inputs};
  const RowMajor b{dy, static_cast<size_t>(s.rows) * s.units, s.rows, s.units};
  with_tile(s.tf32, s.inputs, s.rows, [&](auto tile) {
    launch_product<decltype(tile)>(a, b, out, s.inputs, s.rows, s.units, s.step.jobs, s.step.stream);
  });
}

void step_matrix(const MatrixSite& s, const float* x, size_t x_stride, const float* dy) {
  const ColumnMajor a{x, x_stride, s.inputs, s.inputs};
  const ColumnMajor b{dy, static_cast<size_t>(s.rows) * s.units, s.units, s.units};
  const StepMatrix out{s.weights, s.step.stride, s.inputs, s.units, s.rate};
  with_tile(s.tf32, s.inputs, s.units, [&](auto tile) {
    launch_product<decltype(tile)>(a, b, out, s.inputs, s.units, s.rows, s.step.jobs, s.step.stream);
  });
}

void step_biases(const MatrixSite& s, const float* dy, float* bias, float* second_bias) {
  const dim3 grid(pieces(s.units, 128), s.step.jobs);
  step_biases_kernel<<<grid, 128, 0, s.step.stream>>>(dy, s.units, s.rows, bias, second_bias, s.step.stride,
                                                      s.rate);
}

}  // namespace subfleet::cuda
