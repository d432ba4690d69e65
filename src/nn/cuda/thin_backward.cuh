#pragma once

#include "nn/cuda/matrix_products.cuh"

// Backward through a dense layer of a few rows, in one pass: each weight is read once and written once.
namespace subfleet::cuda {

constexpr int kWarps = 8;

// dx = scale * dy W and W -= rate dy^T x in one pass over W. A block has a strip of 64 inputs; its warps
// divide the units. Grid: strips, jobs.
template <int kRows, bool kInputGradient, bool kVector>
__global__ void __launch_bounds__(kWarps * 32)
    thin_backward(float* __restrict__ weights, size_t stride, const float* __restrict__ x,
                  const float* __restrict__ dy, float* __restrict__ dx, int inputs, int units, int rows,
                  bool relu_before, float scale, float rate) {
  constexpr int kColumns = 2, kChunk = 128, kAhead = 4, kPitch = (kRows + 3) / 4 * 4;
  __shared__ __align__(16) float chunks[2][kChunk][kPitch];  // of the gradients
  __shared__ float parts[kWarps][kColumns * 32];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  // Jobs in reverse order: some weights of those that went forward last are still in the cache.
  const int job = gridDim.y - 1 - blockIdx.y;
  // A thread's columns: two neighbours if they can be read at once.
  const auto column = [&](int c) {
    return static_cast<int>(blockIdx.x) * kColumns * 32 + (kVector ? lane * kColumns + c : lane + c * 32);
  };
  float* w = weights + job * stride;
  const float* in = x + static_cast<size_t>(job) * rows * inputs;
  const float* out = dy + static_cast<size_t>(job) * rows * units;
  float* bias = w + static_cast<size_t>(units) * inputs;

  float value[kColumns][kRows], sum[kColumns][kRows] = {};
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      value[c][r] = r < rows && column(c) < inputs ? in[static_cast<size_t>(r) * inputs + column(c)] : 0.0f;
    }
  }
  // The weights of the next kAhead units are on their way while these are used.
  float next[kAhead][kColumns];
  const auto ask = [&](int unit) {
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const float* from = w + static_cast<size_t>(unit + i) * inputs;
      if constexpr (kVector) {
        float2 two = make_float2(0, 0);
        if (unit + i < units && column(0) < inputs) two = *reinterpret_cast<const float2*>(from + column(0));
        next[i][0] = two.x, next[i][1] = two.y;
      } else {
#pragma unroll
        for (int c = 0; c < kColumns; ++c)
          next[i][c] = unit + i < units && column(c) < inputs ? from[column(c)] : 0.0f;
      }
    }
  };
  ask(warp * kAhead);
  const auto load = [&](int begin) {
    for (int i = threadIdx.x; begin < units && i < kChunk * kRows; i += kWarps * 32) {
      const int unit = i % kChunk, r = i / kChunk;
      const bool valid = r < rows && begin + unit < units;
      copy_async(&chunks[begin / kChunk % 2][unit][r],
                 valid ? out + static_cast<size_t>(r) * units + begin + unit : out, valid);
    }
    commit_copies();
  };
  load(0);
  for (int begin = 0; begin < units; begin += kChunk) {
    load(begin + kChunk);
    await_copies<1>();
    __syncthreads();
    const float(&gradients)[kChunk][kPitch] = chunks[begin / kChunk % 2];
    for (int i = threadIdx.x; blockIdx.x == 0 && i < min(kChunk, units - begin); i += kWarps * 32) {
      float total = 0;
#pragma unroll
      for (int r = 0; r < kRows; ++r) total += gradients[i][r];
      bias[begin + i] = fmaf(-rate, total, bias[begin + i]);
    }
    for (int unit = warp * kAhead; unit < kChunk && begin + unit < units; unit += kWarps * kAhead) {
      float now[kAhead][kColumns];
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
#pragma unroll
        for (int c = 0; c < kColumns; ++c) now[i][c] = next[i][c];
      }
      ask(begin + unit + kWarps * kAhead);
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        float step[kColumns] = {};
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          const float gradient = gradients[unit + i][r];
#pragma unroll
          for (int c = 0; c < kColumns; ++c) {
            if (kInputGradient) sum[c][r] = fmaf(gradient, now[i][c], sum[c][r]);
            step[c] = fmaf(gradient, value[c][r], step[c]);
          }
        }
        float* to = w + static_cast<size_t>(begin + unit + i) * inputs;
#pragma unroll
        for (int c = 0; c < kColumns; ++c) step[c] = fmaf(-rate, step[c], now[i][c]);
        if constexpr (kVector) {
          if (begin + unit + i < units && column(0) < inputs)
            *reinterpret_cast<float2*>(to + column(0)) = make_float2(step[0], step[1]);
        } else {
#pragma unroll
          for (int c = 0; c < kColumns; ++c) {
            if (begin + unit + i < units && column(c) < inputs) to[column(c)] = step[c];
          }
        }
      }
    }
    __syncthreads();  // before what was read is overwritten
  }
  if constexpr (kInputGradient) {
    // The warps' parts of dx, added in their order.
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      __syncthreads();
#pragma unroll
      for (int c = 0; c < kColumns; ++c) parts[warp][column(c) % (kColumns * 32)] = sum[c][r];
      __syncthreads();
      const int mine = blockIdx.x * kColumns * 32 + threadIdx.x;
      if (threadIdx.x < kColumns * 32 && mine < inputs && r < rows) {
        float total = 0;
#pragma unroll
        for (int i = 0; i < kWarps; ++i) total += parts[i][threadIdx.x];
        const size_t at = static_cast<size_t>(r) * inputs + mine;
        dx[static_cast<size_t>(job) * rows * inputs + at] =
            relu_before && !(in[at] > 0) ? 0.0f : scale * total;
      }
    }
  }
}

// The same on the tensor cores, transposed: a warp's fragments have 32 inputs and 8 units. It does not matter
// which input and unit is which row, column or k of a fragment. So they are dealt in such a way that a thread
// has the same weights as factors of dx and as results of the step: four neighbours of two units.
template <int kRows, bool kInputGradient, bool kVector>
__global__ void __launch_bounds__(kWarps * 32, 3)
    thin_backward_tf32(float* __restrict__ weights, size_t stride, const float* __restrict__ x,
                       const float* __restrict__ dy, float* __restrict__ dx, int inputs, int units, int rows,
                       bool relu_before, float scale, float rate) {
  constexpr int kStrip = 32, kTurns = 2, kChunk = kWarps * 8 * kTurns, kPitch = kChunk + 8;
  constexpr int kEights = kRows > 8 ? 2 : 1;                      // of rows
  __shared__ __align__(16) float chunks[2][kEights * 8][kPitch];  // of the gradients
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane / 4, t = lane % 4;
  const int job = gridDim.y - 1 - blockIdx.y;
  const int column = static_cast<int>(blockIdx.x) * kStrip + g * 4;  // the first of four
  float* w = weights + job * stride;
  const float* in = x + static_cast<size_t>(job) * rows * inputs;
  const float* out = dy + static_cast<size_t>(job) * rows * units;
  float* bias = w + static_cast<size_t>(units) * inputs;

  uint32_t value[kEights][2][4];  // of x: 32 inputs x 8 rows
#pragma unroll
  for (int e = 0; e < kEights; ++e) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int r = e * 8 + t + i % 4 / 2 * 4, at = column + i / 4 * 2 + i % 2;
      value[e][i / 4][i % 4] =
          rounded(r < rows && at < inputs ? in[static_cast<size_t>(r) * inputs + at] : 0.0f);
    }
  }
  const auto first_unit = [&](int chunk, int turn) { return chunk * kChunk + (turn * kWarps + warp) * 8; };
  float next[kTurns][2][4];  // weights on their way
  const auto ask_weights = [&](int chunk, int turn) {
#pragma unroll
    for (int u = 0; u < 2; ++u) {
      const int unit = first_unit(chunk, turn) + t * 2 + u;
      const float* from = w + static_cast<size_t>(unit) * inputs + column;
      float(&to)[4] = next[turn][u];
      if constexpr (kVector) {
        float4 four = make_float4(0, 0, 0, 0);
        if (unit < units && column < inputs) four = *reinterpret_cast<const float4*>(from);
        to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
      } else {
#pragma unroll
        for (int c = 0; c < 4; ++c) to[c] = unit < units && column + c < inputs ? from[c] : 0.0f;
      }
    }
  };
  const auto ask_gradients = [&](int chunk) {
    const int begin = chunk * kChunk;
    for (int i = threadIdx.x; begin < units && i < kEights * 8 * kChunk; i += kWarps * 32) {
      const int unit = i % kChunk, r = i / kChunk;
      const bool valid = r < rows && begin + unit < units;
      copy_async(&chunks[chunk % 2][r][unit],
                 valid ? out + static_cast<size_t>(r) * units + begin + unit : out, valid);
    }
    commit_copies();
  };
  ask_gradients(0);
#pragma unroll
  for (int turn = 0; turn < kTurns; ++turn) ask_weights(0, turn);

  TensorFragments<2, kEights> sums;  // of dx: inputs x rows
  for (int chunk = 0; chunk * kChunk < units; ++chunk) {
    await_copies<0>();
    __syncthreads();  // this chunk is there, and nobody reads the one before it
    ask_gradients(chunk + 1);
    const float(&gradients)[kEights * 8][kPitch] = chunks[chunk % 2];
    for (int i = threadIdx.x; blockIdx.x == 0 && i < min(kChunk, units - chunk * kChunk); i += kWarps * 32) {
      float total = 0;
      for (int r = 0; r < rows; ++r) total += gradients[r][i];
      float& mine = bias[chunk * kChunk + i];
      mine = fmaf(-rate, total, mine);
    }
#pragma unroll
    for (int turn = 0; turn < kTurns; ++turn) {
      float now[2][4];
#pragma unroll
      for (int i = 0; i < 8; ++i) now[i / 4][i % 4] = next[turn][i / 4][i % 4];
      ask_weights(chunk + 1, turn);
      const int first = (turn * kWarps + warp) * 8;  // of the chunk
      if constexpr (kInputGradient) {
        uint32_t a[2][4], b[kEights][2];
#pragma unroll
        for (int i = 0; i < 8; ++i) a[i / 4][i % 4] = rounded(now[i % 4 / 2][i / 4 * 2 + i % 2]);
#pragma unroll
        for (int e = 0; e < kEights; ++e) {
          const float2 two = *reinterpret_cast<const float2*>(&gradients[e * 8 + g][first + t * 2]);
          b[e][0] = rounded(two.x), b[e][1] = rounded(two.y);
        }
        sums.add_products(a, b);
      }
      TensorFragments<2, 1> step;  // inputs x units
#pragma unroll
      for (int e = 0; e < kEights; ++e) {
        uint32_t b[1][2];
        b[0][0] = rounded(gradients[e * 8 + t][first + g]);
        b[0][1] = rounded(gradients[e * 8 + t + 4][first + g]);
        step.add_products(value[e], b);
      }
#pragma unroll
      for (int u = 0; u < 2; ++u) {
        const int unit = first_unit(chunk, turn) + t * 2 + u;
        if (unit >= units) continue;
#pragma unroll
        for (int c = 0; c < 4; ++c) now[u][c] = fmaf(-rate, step.sum[c / 2][0][c % 2 * 2 + u], now[u][c]);
        float* to = w + static_cast<size_t>(unit) * inputs + column;
        if constexpr (kVector) {
          if (column < inputs)
            *reinterpret_cast<float4*>(to) = make_float4(now[u][0], now[u][1], now[u][2], now[u][3]);
        } else {
#pragma unroll
          for (int c = 0; c < 4; ++c) {
            if (column + c < inputs) to[c] = now[u][c];
          }
        }
      }
    }
  }
  if constexpr (kInputGradient) {
    // The warps' parts of dx, added in their order.
    constexpr int kPart = kEights * 8 * kStrip;
    static_assert(kWarps * kPart <= 2 * kEights * 8 * kPitch);
    float* parts = chunks[0][0];
    __syncthreads();
    sums.each([&](int m, int r, float part) {
      parts[warp * kPart + r * kStrip + m % 8 * 4 + m / 16 * 2 + m % 16 / 8] = part;
    });
    __syncthreads();
    for (int i = threadIdx.x; i < rows * kStrip; i += kWarps * 32) {
      const int mine = static_cast<int>(blockIdx.x) * kStrip + i % kStrip;
      if (mine >= inputs) continue;
      float total = 0;
#pragma unroll
      for (int from = 0; from < kWarps; ++from) total += parts[from * kPart + i];
      const size_t at = static_cast<size_t>(i / kStrip) * inputs + mine;
      dx[static_cast<size_t>(job) * rows * inputs + at] = relu_before && !(in[at] > 0) ? 0.0f : scale * total;
    }
  }
}

}  // namespace subfleet::cuda
