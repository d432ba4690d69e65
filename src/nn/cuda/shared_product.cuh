#pragma once

#include "nn/cuda/product.cuh"

// The product of one large matrix with the rows of all jobs: C(m, n) = sum over k of A(m, k) * B(n, k). Works
// like product.cuh, with copies of 16 bytes; so all strides and A's number of rows must be multiples of 4.
namespace subfleet::cuda {

struct SharedProduct {
  const float* a;  // the shared matrix: value (m, k) at m * a_stride + k, or at k * a_stride + m
  const float* b;  // value (n, k) at n * depth + k
  float* parts;    // [split][n][m]
  int m, n, depth, a_stride, split_depth;
};

constexpr int kSharedM = 128, kSharedN = 64, kSharedDepth = 32;
constexpr int kAlongK = kSharedDepth + 4;  // pitch of a tile that lies along k
constexpr int kAlongM = kSharedM + 8;      // and of A's that lies along m

template <bool kTransposed>
constexpr int shared_stage() {
  return (kTransposed ? kSharedDepth * kAlongM : kSharedM * kAlongK) + kSharedN * kAlongK;
}

// f32: a thread has 8 x 8 values; a warp's lanes are arranged 8 x 4.
template <bool kTransposed>
struct F32Shared {
  float sum[8][8] = {};

  static __device__ int lane() { return static_cast<int>(threadIdx.x) & 31; }
  static __device__ int warp() { return static_cast<int>(threadIdx.x) >> 5; }
  static __device__ int row(int i) {
    return warp() % 2 * 64 + (kTransposed ? i / 4 * 32 + lane() % 8 * 4 + i % 4 : lane() % 8 + i * 8);
  }
  static __device__ int column(int j) { return warp() / 2 * 32 + lane() / 8 + j * 4; }
  static __device__ float part(const float4& four, int i) {
    return i == 0 ? four.x : i == 1 ? four.y : i == 2 ? four.z : four.w;
  }

  __device__ void multiply(const float* tile_m, const float* tile_n) {
#pragma unroll
    for (int k0 = 0; k0 < kSharedDepth; k0 += 4) {
      float4 b[8];
#pragma unroll
      for (int j = 0; j < 8; ++j) b[j] = *reinterpret_cast<const float4*>(tile_n + column(j) * kAlongK + k0);
      if constexpr (kTransposed) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
#pragma unroll
          for (int i = 0; i < 8; i += 4) {
            const float4 a = *reinterpret_cast<const float4*>(tile_m + (k0 + k) * kAlongM + row(i));
#pragma unroll
            for (int q = 0; q < 4; ++q) {
#pragma unroll
              for (int j = 0; j < 8; ++j) sum[i + q][j] = fmaf(part(a, q), part(b[j], k), sum[i + q][j]);
            }
          }
        }
      } else {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          const float4 a = *reinterpret_cast<const float4*>(tile_m + row(i) * kAlongK + k0);
#pragma unroll
          for (int k = 0; k < 4; ++k) {
#pragma unroll
            for (int j = 0; j < 8; ++j) sum[i][j] = fmaf(part(a, k), part(b[j], k), sum[i][j]);
          }
        }
      }
    }
  }
  template <typename Visit>
  __device__ void each(Visit&& visit) const {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
#pragma unroll
      for (int j = 0; j < 8; ++j) visit(row(i), column(j), sum[i][j]);
    }
  }
};

template <bool kTransposed>
struct Tf32Shared {
  using Tile = Tf32Tile<kSharedM, kSharedN>;
  Tile tile;

  __device__ void multiply(const float* tile_m, const float* tile_n) {
    const int g = Tile::lane() / 4, t = Tile::lane() % 4;
    constexpr int kRow = kTransposed ? 1 : kAlongK, kStep = kTransposed ? kAlongM : 1;
    const float* m = tile_m + (Tile::first_m() + g) * kRow + t * kStep;
    const float* n = tile_n + (Tile::first_n() + g) * kAlongK + t;
#pragma unroll
    for (int k = 0; k < kSharedDepth; k += 8) {
      uint32_t a[Tile::kTm][4], b[Tile::kTn][2];
#pragma unroll
      for (int i = 0; i < Tile::kTm; ++i) {
        a[i][0] = rounded(m[i * 16 * kRow + k * kStep]);
        a[i][1] = rounded(m[(i * 16 + 8) * kRow + k * kStep]);
        a[i][2] = rounded(m[i * 16 * kRow + (k + 4) * kStep]);
        a[i][3] = rounded(m[(i * 16 + 8) * kRow + (k + 4) * kStep]);
      }
#pragma unroll
      for (int j = 0; j < Tile::kTn; ++j) {
        b[j][0] = rounded(n[j * 8 * kAlongK + k]);
        b[j][1] = rounded(n[j * 8 * kAlongK + k + 4]);
      }
      tile.fragments.add_products(a, b);
    }
  }
  template <typename Visit>
  __device__ void each(Visit&& visit) const {
    tile.each(visit);
  }
};

// Grid: tiles of m, tiles of n, splits.
template <typename Math, bool kTransposed>
__global__ void __launch_bounds__(kThreads) shared_product_kernel(SharedProduct p) {
  constexpr int kStage = shared_stage<kTransposed>(), kTileN = kStage - kSharedN * kAlongK;
  extern __shared__ __align__(16) float memory[];
  const int first_m = blockIdx.x * kSharedM, first_n = blockIdx.y * kSharedN;
  const int begin = blockIdx.z * p.split_depth, end = min(p.depth, begin + p.split_depth);
  const auto load = [&](int stage, int k0) {
    float* tile = memory + stage * kStage;
    if (k0 < end) {
#pragma unroll
      for (int i = threadIdx.x; i < kSharedM * kSharedDepth / 4; i += kThreads) {
        const int m = kTransposed ? i % (kSharedM / 4) * 4 : i / (kSharedDepth / 4);
        const int k = kTransposed ? i / (kSharedM / 4) : i % (kSharedDepth / 4) * 4;
        const bool valid = first_m + m < p.m && k0 + k < end;
        const size_t at = kTransposed ? static_cast<size_t>(k0 + k) * p.a_stride + first_m + m
                                      : static_cast<size_t>(first_m + m) * p.a_stride + k0 + k;
        copy_async_16(tile + (kTransposed ? k * kAlongM + m : m * kAlongK + k), valid ? p.a + at : p.a,
                      valid);
      }
#pragma unroll
      for (int i = threadIdx.x; i < kSharedN * kSharedDepth / 4; i += kThreads) {
        const int n = i / (kSharedDepth / 4), k = i % (kSharedDepth / 4) * 4;
        const bool valid = first_n + n < p.n && k0 + k < end;
        copy_async_16(tile + kTileN + n * kAlongK + k,
                      valid ? p.b + static_cast<size_t>(first_n + n) * p.depth + k0 + k : p.b, valid);
      }
    }
    commit_copies();
  };
#pragma unroll
  for (int stage = 0; stage < kStages - 1; ++stage) load(stage, begin + stage * kSharedDepth);
  Math math;
  int stage = 0;
  for (int k0 = begin; k0 < end; k0 += kSharedDepth) {
    await_copies<kStages - 2>();
    __syncthreads();
    load((stage + kStages - 1) % kStages, k0 + (kStages - 1) * kSharedDepth);
    math.multiply(memory + stage * kStage, memory + stage * kStage + kTileN);
    stage = (stage + 1) % kStages;
  }
  float* out = p.parts + static_cast<size_t>(blockIdx.z) * p.n * p.m;
  math.each([&](int m, int n, float value) {
    m += first_m, n += first_n;
    if (m < p.m && n < p.n) out[static_cast<size_t>(n) * p.m + m] = value;
  });
}

// How often k is split; depends on the matrix alone.
inline int shared_splits(int m) { return max(1, min(8, 64 / pieces(m, kSharedM))); }

template <typename Math, bool kTransposed>
void launch_shared(SharedProduct p, cudaStream_t stream) {
  constexpr int kBytes = kStages * shared_stage<kTransposed>() * static_cast<int>(sizeof(float));
  const int splits = shared_splits(p.m);
  p.split_depth = pieces(pieces(p.depth, splits), kSharedDepth) * kSharedDepth;
  const auto kernel = shared_product_kernel<Math, kTransposed>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes),
        "asking for shared memory");
  const dim3 grid(pieces(p.m, kSharedM), pieces(p.n, kSharedN), splits);
  kernel<<<grid, kThreads, kBytes, stream>>>(p);
}

template <bool kTransposed>
void launch_shared_product(bool tf32, const SharedProduct& p, cudaStream_t stream) {
  if (tf32) return launch_shared<Tf32Shared<kTransposed>, kTransposed>(p, stream);
  return launch_shared<F32Shared<kTransposed>, kTransposed>(p, stream);
}

}  // namespace subfleet::cuda
