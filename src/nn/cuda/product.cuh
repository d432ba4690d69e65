#pragma once

#include <cuda_runtime.h>

#include <cstdint>

// Very many products of small matrices at once: C(m, n) = sum over k of A(m, k) * B(n, k), one per job. The
// operand classes know how values lie in memory or are picked out of an image; the epilogue decides what
// becomes of C. Tiles, and so the order of every sum, depend on one job's shapes alone, never on the number
// of jobs.
namespace subfleet::cuda {

constexpr int kThreads = 128;
constexpr int kDepth = 16;  // values of k that a tile brings in at once
constexpr int kStages = 3;  // tiles under way

// Copies one value into shared memory without waiting; 0 if it is not valid.
__device__ inline void copy_async(float* to, const float* from, bool valid) {
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;\n" ::"r"(address), "l"(from),
               "r"(valid ? 4 : 0));
}
// The same for four values, at addresses that are multiples of 16 bytes. Bypasses the L1 cache, which would
// not help.
__device__ inline void copy_async_16(float* to, const float* from, bool valid) {
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(address), "l"(from),
               "r"(valid ? 16 : 0));
}
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;\n"); }
template <int kLeft>
__device__ inline void await_copies() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(kLeft) : "memory");
}

// How a block's threads load a tile of kRows x kDepth that lies along the rows in memory: each thread owns
// rows.
template <int kRows>
struct AlongRows {
  static constexpr int kOwned = kRows > kThreads ? kRows / kThreads : 1;
  static constexpr int kRowThreads = kRows / kOwned;
  static constexpr int kSteps = kThreads / kRowThreads;  // values of k that are loaded at once
  static __device__ int row(int i) { return static_cast<int>(threadIdx.x) % kRowThreads + i * kRowThreads; }
  static __device__ int first_k() { return static_cast<int>(threadIdx.x) / kRowThreads; }
};

// The same for a tile that lies along k: each thread owns one k. Eight neighbours read a whole sector.
template <int kRows>
struct AlongK {
  static __device__ int k() { return static_cast<int>((threadIdx.x & 7) + ((threadIdx.x >> 5 & 1) << 3)); }
  static __device__ int first_row() {
    return static_cast<int>((threadIdx.x >> 3 & 3) + (threadIdx.x >> 6 << 2));
  }
  static constexpr int kStep = 8;
};

// A matrix stored row by row: value (row, k) at row * stride + k.
struct RowMajor {
  const float* values;
  size_t job_stride;
  int rows, stride;

  template <int kRows>
  struct Loader {
    const float* at;
    int rows, stride;
    __device__ Loader(const RowMajor& m, int job, int first)
        : at(m.values + job * m.job_stride +
             static_cast<size_t>(first + AlongK<kRows>::first_row()) * m.stride + AlongK<kRows>::k()),
          rows(m.rows - first - AlongK<kRows>::first_row()),
          stride(m.stride) {}
    template <int kPitch>
    __device__ void load(float* tile, int k0, int k_end) const {
      using Owner = AlongK<kRows>;
      const bool in = k0 + Owner::k() < k_end;
      float* to = tile + Owner::k() * kPitch + Owner::first_row();
#pragma unroll
      for (int i = 0; i < kRows; i += Owner::kStep) {
        const bool valid = in && i < rows;
        copy_async(to + i, valid ? at + k0 + static_cast<size_t>(i) * stride : at, valid);
      }
    }
  };
};

// Its transpose: value (row, k) at k * stride + row.
struct ColumnMajor {
  const float* values;
  size_t job_stride;
  int rows, stride;

  template <int kRows>
  struct Loader {
    using Owner = AlongRows<kRows>;
    const float* at;
    int rows, stride;
    __device__ Loader(const ColumnMajor& m, int job, int first)
        : at(m.values + job * m.job_stride + first), rows(m.rows - first), stride(m.stride) {}
    template <int kPitch>
    __device__ void load(float* tile, int k0, int k_end) const {
#pragma unroll
      for (int k = 0; k < kDepth; k += Owner::kSteps) {
        const int kk = k + Owner::first_k();
#pragma unroll
        for (int i = 0; i < Owner::kOwned; ++i) {
          const int row = Owner::row(i);
          const bool valid = row < rows && k0 + kk < k_end;
          copy_async(tile + kk * kPitch + row, valid ? at + static_cast<size_t>(k0 + kk) * stride + row : at,
                     valid);
        }
      }
    }
  };
};

// A tile of C in f32. Every thread computes kTm x kTn values with fused multiply-add. A warp's lanes are
// arranged 8 x 4, so that they read few different values.
template <int kM_, int kN_>
struct F32Tile {
  static constexpr int kM = kM_, kN = kN_;
  static constexpr int kPitchM = kM + 4, kPitchN = kN + 4;  // so that loads along k meet different banks
  static constexpr int kWarpsM = kM >= 128 ? 4 / (kN / 32) : 1, kWarpsN = 4 / kWarpsM;
  static constexpr int kTm = kM / kWarpsM / 8, kTn = kN / kWarpsN / 4;
  static_assert(kTm % 4 == 0 && (kTn % 4 == 0 || kTn == 2));
  static constexpr int kWide = kTn % 4 == 0 ? 4 : 2;

  float sum[kTm][kTn] = {};

  static __device__ int lane() { return static_cast<int>(threadIdx.x) & 31; }
  static __device__ int warp() { return static_cast<int>(threadIdx.x) >> 5; }
  static __device__ int row(int i) {
    return warp() % kWarpsM * (kM / kWarpsM) + i / 4 * 32 + lane() % 8 * 4 + i % 4;
  }
  static __device__ int column(int j) {
    return warp() / kWarpsM * (kN / kWarpsN) + j / kWide * 4 * kWide + lane() / 8 * kWide + j % kWide;
  }

  __device__ void multiply(const float* tile_m, const float* tile_n) {
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      float a[kTm], b[kTn];
#pragma unroll
      for (int i = 0; i < kTm; i += 4) {
        const float4 four = *reinterpret_cast<const float4*>(tile_m + k * kPitchM + row(i));
        a[i] = four.x, a[i + 1] = four.y, a[i + 2] = four.z, a[i + 3] = four.w;
      }
#pragma unroll
      for (int j = 0; j < kTn; j += kWide) {
        const float* from = tile_n + k * kPitchN + column(j);
        if constexpr (kWide == 4) {
          const float4 four = *reinterpret_cast<const float4*>(from);
          b[j] = four.x, b[j + 1] = four.y, b[j + 2] = four.z, b[j + 3] = four.w;
        } else {
          const float2 two = *reinterpret_cast<const float2*>(from);
          b[j] = two.x, b[j + 1] = two.y;
        }
      }
#pragma unroll
      for (int i = 0; i < kTm; ++i) {
#pragma unroll
        for (int j = 0; j < kTn; ++j) sum[i][j] = fmaf(a[i], b[j], sum[i][j]);
      }
    }
  }

  // Calls visit(m, n, value) for every value of this thread.
  template <typename Visit>
  __device__ void each(Visit&& visit) const {
#pragma unroll
    for (int i = 0; i < kTm; ++i) {
#pragma unroll
      for (int j = 0; j < kTn; ++j) visit(row(i), column(j), sum[i][j]);
    }
  }
};

// A factor for the tensor cores: rounded to TF32's 10 bits.
__device__ inline uint32_t rounded(float value) {
  uint32_t bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
  return bits;
}

// A warp's sums on the tensor cores, in kTm x kTn blocks of 16 x 8: products of TF32 values, added in f32.
template <int kTm, int kTn>
struct TensorFragments {
  float sum[kTm][kTn][4] = {};

  // A fragment holds this thread's part: of 16 x 8 values of m and k, and of 8 x 8 values of n and k.
  __device__ void add_products(const uint32_t (&a)[kTm][4], const uint32_t (&b)[kTn][2]) {
#pragma unroll
    for (int i = 0; i < kTm; ++i) {
#pragma unroll
      for (int j = 0; j < kTn; ++j) {
        float* c = sum[i][j];
        asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
            "{%0,%1,%2,%3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[i][0]), "r"(a[i][1]), "r"(a[i][2]), "r"(a[i][3]), "r"(b[j][0]), "r"(b[j][1]));
      }
    }
  }
  // Calls visit(m, n, value) for every value of this thread.
  template <typename Visit>
  __device__ void each(Visit&& visit) const {
#pragma unroll
    for (int i = 0; i < kTm; ++i) {
#pragma unroll
      for (int j = 0; j < kTn; ++j) {
        const int lane = static_cast<int>(threadIdx.x) & 31;
        const int m = i * 16 + lane / 4, n = j * 8 + lane % 4 * 2;
        visit(m, n, sum[i][j][0]);
        visit(m, n + 1, sum[i][j][1]);
        visit(m + 8, n, sum[i][j][2]);
        visit(m + 8, n + 1, sum[i][j][3]);
      }
    }
  }
};

// A tile of C on the tensor cores.
template <int kM_, int kN_>
struct Tf32Tile {
  static constexpr int kM = kM_, kN = kN_;
  static constexpr int kPitchM = kM + 8,
                       kPitchN = kN + 8;  // so that a fragment's values lie in different banks
  static constexpr int kWarpsN = kN >= 64 ? 2 : 1, kWarpsM = 4 / kWarpsN;
  static constexpr int kTm = kM / kWarpsM / 16, kTn = kN / kWarpsN / 8;  // in blocks of 16 x 8
  static_assert(kTm >= 1 && kTn >= 1);

  TensorFragments<kTm, kTn> fragments;

  static __device__ int lane() { return static_cast<int>(threadIdx.x) & 31; }
  static __device__ int warp() { return static_cast<int>(threadIdx.x) >> 5; }
  static __device__ int first_m() { return warp() % kWarpsM * (kM / kWarpsM); }
  static __device__ int first_n() { return warp() / kWarpsM * (kN / kWarpsN); }

  __device__ void multiply(const float* tile_m, const float* tile_n) {
#pragma unroll
    for (int k = 0; k < kDepth; k += 8) {
      const float* m = tile_m + (k + lane() % 4) * kPitchM + first_m() + lane() / 4;
      const float* n = tile_n + (k + lane() % 4) * kPitchN + first_n() + lane() / 4;
      uint32_t a[kTm][4], b[kTn][2];
#pragma unroll
      for (int i = 0; i < kTm; ++i) {
        a[i][0] = rounded(m[i * 16]);
        a[i][1] = rounded(m[i * 16 + 8]);
        a[i][2] = rounded(m[i * 16 + 4 * kPitchM]);
        a[i][3] = rounded(m[i * 16 + 8 + 4 * kPitchM]);
      }
#pragma unroll
      for (int j = 0; j < kTn; ++j) {
        b[j][0] = rounded(n[j * 8]);
        b[j][1] = rounded(n[j * 8 + 4 * kPitchN]);
      }
      fragments.add_products(a, b);
    }
  }

  template <typename Visit>
  __device__ void each(Visit&& visit) const {
    fragments.each([&](int m, int n, float value) { visit(first_m() + m, first_n() + n, value); });
  }
};

// Grid: tiles of m, tiles of n, jobs * splits. A split sums its own part of k; the epilogue gets its number.
template <typename Tile, typename A, typename B, typename Epilogue>
__global__ void __launch_bounds__(kThreads)
    product_kernel(A a, B b, Epilogue epilogue, int depth, int splits, int split_depth) {
  __shared__ __align__(16) float tiles_m[kStages][kDepth * Tile::kPitchM];
  __shared__ __align__(16) float tiles_n[kStages][kDepth * Tile::kPitchN];
  const int job = static_cast<int>(blockIdx.z) / splits, split = static_cast<int>(blockIdx.z) % splits;
  const int first_m = static_cast<int>(blockIdx.x) * Tile::kM,
            first_n = static_cast<int>(blockIdx.y) * Tile::kN;
  const int begin = split * split_depth, end = min(depth, begin + split_depth);
  const typename A::template Loader<Tile::kM> load_a(a, job, first_m);
  const typename B::template Loader<Tile::kN> load_b(b, job, first_n);
  const auto load = [&](int stage, int k0) {
    if (k0 < end) {
      load_a.template load<Tile::kPitchM>(tiles_m[stage], k0, end);
      load_b.template load<Tile::kPitchN>(tiles_n[stage], k0, end);
    }
    commit_copies();
  };
#pragma unroll
  for (int stage = 0; stage < kStages - 1; ++stage) load(stage, begin + stage * kDepth);

  Tile tile;
  int stage = 0;
  for (int k0 = begin; k0 < end; k0 += kDepth) {
    await_copies<kStages - 2>();
    __syncthreads();
    load((stage + kStages - 1) % kStages, k0 + (kStages - 1) * kDepth);
    tile.multiply(tiles_m[stage], tiles_n[stage]);
    stage = (stage + 1) % kStages;
  }
  epilogue.finish(job, split, first_m, first_n, tile);
}

constexpr int pieces(int all, int of) { return (all + of - 1) / of; }

// Whether tiles of 32 columns waste so much less on n columns than tiles of 64 that they are worth it.
constexpr bool is_narrow(int n) { return n <= 32 || pieces(n, 32) * 4 <= pieces(n, 64) * 2 * 3; }

// How a product's k is split. It depends on one job's shapes alone; a few dozen jobs then have enough tiles
// to fill a GPU.
struct Split {
  int count, depth;
};
inline Split split_depth(int m, int n, int depth, int tile_m, int tile_n, int wanted_tiles) {
  const int tiles = pieces(m, tile_m) * pieces(n, tile_n);
  const int count = min(max(1, pieces(wanted_tiles, tiles)), max(1, depth / (8 * kDepth)));
  const int each = pieces(pieces(depth, count), kDepth) * kDepth;
  return {pieces(depth, each), each};
}

template <typename Tile, typename A, typename B, typename Epilogue>
void launch_product(const A& a, const B& b, const Epilogue& epilogue, int m, int n, int depth, int jobs,
                    cudaStream_t stream, Split split = {1, 1 << 30}) {
  const dim3 grid(pieces(m, Tile::kM), pieces(n, Tile::kN), jobs * split.count);
  product_kernel<Tile><<<grid, kThreads, 0, stream>>>(a, b, epilogue, depth, split.count, split.depth);
}

}  // namespace subfleet::cuda
