#pragma once

#include "nn/cuda/matrix_products.cuh"

// Forward through a dense layer of a few rows (a small batch) in one pass over the weights. A step then costs
// only the time to read them.
namespace subfleet::cuda {

constexpr int kThinSpan = 64;  // inputs that a tile of thin_forward brings in at once

// How a block multiplies a tile of kUnits x kThinSpan weights with the same inputs of kRows rows. The inputs
// are divided among kSlices parts of the block.
template <int kRows, int kUnits>
struct PlainThinSums {
  static constexpr int kPitch = kThinSpan + 4, kTileRows = kRows;
  static constexpr int kSlices = kThreads / kUnits, kSlice = kThinSpan / kSlices;
  float sum[kRows] = {};

  // A thread has one unit and a slice.
  static __device__ int unit() { return static_cast<int>(threadIdx.x) % kUnits; }
  static __device__ int slice() { return static_cast<int>(threadIdx.x) / kUnits; }

  __device__ void multiply(const float* tile, const float* values) {
#pragma unroll
    for (int k = slice() * kSlice; k < (slice() + 1) * kSlice; k += 4) {
      const float4 a = *reinterpret_cast<const float4*>(tile + unit() * kPitch + k);
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const float4 b = *reinterpret_cast<const float4*>(values + r * kPitch + k);
        sum[r] = fmaf(a.x, b.x, sum[r]);
        sum[r] = fmaf(a.y, b.y, sum[r]);
        sum[r] = fmaf(a.z, b.z, sum[r]);
        sum[r] = fmaf(a.w, b.w, sum[r]);
      }
    }
  }
  // Calls visit(row, unit, value) for every value of this thread.
  template <typename Visit>
  __device__ void each(Visit&& visit) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r) visit(r, unit(), sum[r]);
  }
};

// The same on the tensor cores. A warp has all units and one slice. It does not matter which input is which k
// of a fragment, so a thread reads four neighbours at once.
template <int kRows, int kUnits>
struct TensorThinSums {
  static constexpr int kTm = kUnits / 16, kTn = kRows > 8 ? 2 : 1;
  static constexpr int kPitch = kThinSpan + 16, kTileRows = kTn * 8;
  static constexpr int kSlices = kThreads / 32, kSlice = kThinSpan / kSlices;
  static_assert(kSlice == 16);
  TensorFragments<kTm, kTn> fragments;

  static __device__ int lane() { return static_cast<int>(threadIdx.x) & 31; }
  static __device__ int slice() { return static_cast<int>(threadIdx.x) / 32; }

  __device__ void multiply(const float* tile, const float* values) {
    const int g = lane() / 4, k = slice() * kSlice + lane() % 4 * 4;
    uint32_t a[2][kTm][4], b[2][kTn][2];
#pragma unroll
    for (int i = 0; i < kTm; ++i) {
      const float4 low = *reinterpret_cast<const float4*>(tile + (i * 16 + g) * kPitch + k);
      const float4 high = *reinterpret_cast<const float4*>(tile + (i * 16 + g + 8) * kPitch + k);
      a[0][i][0] = rounded(low.x), a[0][i][1] = rounded(high.x);
      a[0][i][2] = rounded(low.y), a[0][i][3] = rounded(high.y);
      a[1][i][0] = rounded(low.z), a[1][i][1] = rounded(high.z);
      a[1][i][2] = rounded(low.w), a[1][i][3] = rounded(high.w);
    }
#pragma unroll
    for (int j = 0; j < kTn; ++j) {
      const float4 four = *reinterpret_cast<const float4*>(values + (j * 8 + g) * kPitch + k);
      b[0][j][0] = rounded(four.x), b[0][j][1] = rounded(four.y);
      b[1][j][0] = rounded(four.z), b[1][j][1] = rounded(four.w);
    }
    fragments.add_products(a[0], b[0]);
    fragments.add_products(a[1], b[1]);
  }
  template <typename Visit>
  __device__ void each(Visit&& visit) const {
    fragments.each([&](int unit, int row, float value) {
      if (row < kRows) visit(row, unit, value);
    });
  }
};

// y = scale * (x W^T + b). The tiles of a block's kUnits units stream through shared memory, so that many are
// always on their way. kVector: rows begin at multiples of 16 bytes. Grid: groups of units, jobs.
template <template <int, int> typename Sums, int kRows, int kUnits, bool kVector>
__global__ void __launch_bounds__(kThreads)
    thin_forward(const float* __restrict__ weights, size_t stride, const float* __restrict__ x,
                 float* __restrict__ y, int inputs, int units, int rows, float scale, bool relu) {
  using Mine = Sums<kRows, kUnits>;
  constexpr int kPitch = Mine::kPitch, kCopy = kVector ? 4 : 1;
  __shared__ __align__(16) float tiles[kStages][kUnits * kPitch];
  __shared__ __align__(16) float values[kStages][Mine::kTileRows * kPitch];
  const int job = blockIdx.y, first = blockIdx.x * kUnits;
  const float* w = weights + job * stride;
  const float* in = x + static_cast<size_t>(job) * rows * inputs;

  const auto copy = [&](float* to, const float* from, bool valid) {
    if constexpr (kVector) {
      copy_async_16(to, from, valid);
    } else {
      copy_async(to, from, valid);
    }
  };
  const auto load = [&](int stage, int k0) {
    if (k0 < inputs) {
#pragma unroll
      for (int i = threadIdx.x; i < kUnits * kThinSpan / kCopy; i += kThreads) {
        const int unit = i / (kThinSpan / kCopy), k = i % (kThinSpan / kCopy) * kCopy;
        const bool valid = first + unit < units && k0 + k < inputs;
        copy(&tiles[stage][unit * kPitch + k],
             valid ? w + static_cast<size_t>(first + unit) * inputs + k0 + k : w, valid);
      }
      for (int i = threadIdx.x; i < Mine::kTileRows * kThinSpan / kCopy; i += kThreads) {
        const int row = i / (kThinSpan / kCopy), k = i % (kThinSpan / kCopy) * kCopy;
        const bool valid = row < rows && k0 + k < inputs;
        copy(&values[stage][row * kPitch + k], valid ? in + static_cast<size_t>(row) * inputs + k0 + k : in,
             valid);
      }
    }
    commit_copies();
  };
#pragma unroll
  for (int stage = 0; stage < kStages - 1; ++stage) load(stage, stage * kThinSpan);
  Mine sums;
  for (int k0 = 0, stage = 0; k0 < inputs; k0 += kThinSpan, stage = (stage + 1) % kStages) {
    await_copies<kStages - 2>();
    __syncthreads();
    load((stage + kStages - 1) % kStages, k0 + (kStages - 1) * kThinSpan);
    sums.multiply(tiles[stage], values[stage]);
  }
  __syncthreads();
  // The slices' sums, added in their order.
  static_assert(Mine::kSlices * kRows <= kStages * kPitch);
  float* parts = tiles[0];
  sums.each(
      [&](int row, int unit, float value) { parts[(Mine::slice() * kRows + row) * kUnits + unit] = value; });
  __syncthreads();
  const float* bias = w + static_cast<size_t>(units) * inputs + first;
  for (int i = threadIdx.x; i < rows * kUnits; i += kThreads) {
    const int unit = i % kUnits;
    if (first + unit >= units) continue;
    float value = parts[i];
#pragma unroll
    for (int slice = 1; slice < Mine::kSlices; ++slice) value += parts[slice * kRows * kUnits + i];
    value = scale * (value + bias[unit]);
    y[(static_cast<size_t>(job) * rows + i / kUnits) * units + first + unit] =
        relu && !(value > 0) ? 0 : value;
  }
}

}  // namespace subfleet::cuda
