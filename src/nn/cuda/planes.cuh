#pragma once

#include "nn/cuda/product.cuh"

// A convolution as the product of product.cuh, but the pixels' operand is read directly from the images. The
// planes of eight channels at a time lie in shared memory, with a border of zeros, and serve all taps. k runs
// over groups of eight channels, then over the kernel's rows (a stage each), then its columns, then the
// channels of the group. The weights are arranged in that order. For TF32 the weights come rounded and a
// plane is rounded once, when it has arrived. Each value is used many times, so the products only have to
// load and multiply.
namespace subfleet::cuda {

constexpr int kPlane =
    360;  // values of a plane that there is room for; its banks follow those of the plane before
constexpr int kGroup = 8;  // channels

struct PlaneImages {
  const float* values;   // [job][image][channel][height][width]
  const float* weights;  // arranged, [tile of n][group][tap][channel of the group][n]
  size_t weight_stride;  // to the next job's
  int images, channels, height, width;
  int out_width, out_pixels, stride;
  __host__ __device__ int groups() const { return (channels + kGroup - 1) / kGroup; }
};

// The row of an image where an output pixel's window begins; all images, with their borders, are stacked.
__host__ __device__ inline int stacked_row(const PlaneImages& p, int kernel, int pixel) {
  const int image = pixel / p.out_pixels;
  return image * (p.height + kernel - 1) + (pixel - image * p.out_pixels) / p.out_width * p.stride;
}

// f32: a thread has kTm pixels, eight apart, and kTn columns.
struct F32Planes {
  static constexpr bool kRounds = false;
  static constexpr int kN = 32;
  static constexpr int kTm = 4, kTn = 8;
  static constexpr int kPixels = kTm;  // whose places in a plane a thread must know

  float sum[kTm][kTn] = {};

  static __device__ int lane() { return static_cast<int>(threadIdx.x) & 31; }
  static __device__ int warp() { return static_cast<int>(threadIdx.x) >> 5; }
  static __device__ int pixel(int i) { return warp() * kTm * 8 + lane() % 8 + i * 8; }
  static __device__ int column(int j) { return lane() / 8 * 4 + j / 4 * 16 + j % 4; }

  template <int kKernel, int kPitch>
  __device__ void multiply(const float* planes, const int (&places)[kPixels], int row, const float* weights) {
#pragma unroll
    for (int kx = 0; kx < kKernel; ++kx) {
#pragma unroll
      for (int c = 0; c < kGroup; ++c) {
        float a[kTm], b[kTn];
#pragma unroll
        for (int i = 0; i < kTm; ++i) a[i] = planes[places[i] + row + c * kPlane + kx];
#pragma unroll
        for (int j = 0; j < kTn; j += 4) {
          const float4 four =
              *reinterpret_cast<const float4*>(weights + (kx * kGroup + c) * kPitch + column(j));
          b[j] = four.x, b[j + 1] = four.y, b[j + 2] = four.z, b[j + 3] = four.w;
        }
#pragma unroll
        for (int i = 0; i < kTm; ++i) {
#pragma unroll
          for (int j = 0; j < kTn; ++j) sum[i][j] = fmaf(a[i], b[j], sum[i][j]);
        }
      }
    }
  }

  template <typename Visit>
  __device__ void each(Visit&& visit) const {
#pragma unroll
    for (int i = 0; i < kTm; ++i) {
#pragma unroll
      for (int j = 0; j < kTn; ++j) visit(pixel(i), column(j), sum[i][j]);
    }
  }
};

// TF32: a warp multiplies blocks of 16 pixels, 8 channels and 8 columns.
template <int kN_>
struct Tf32Planes {
  static constexpr bool kRounds = true;
  static constexpr int kN = kN_;
  using Tile = Tf32Tile<128, kN>;
  static constexpr int kTm = Tile::kTm, kTn = Tile::kTn;
  static constexpr int kPixels = 2 * kTm;

  Tile tile;

  static __device__ int pixel(int i) { return Tile::first_m() + i * 8 + Tile::lane() / 4; }

  template <int kKernel, int kPitch>
  __device__ void multiply(const float* planes, const int (&places)[kPixels], int row, const float* weights) {
    const int lane = Tile::lane();
    const float* from = planes + row + lane % 4 * kPlane;
    const float* n = weights + lane % 4 * kPitch + Tile::first_n() + lane / 4;
#pragma unroll
    for (int kx = 0; kx < kKernel; ++kx) {
      uint32_t a[kTm][4], b[kTn][2];
#pragma unroll
      for (int i = 0; i < kTm; ++i) {
        a[i][0] = __float_as_uint(from[places[2 * i] + kx]);
        a[i][1] = __float_as_uint(from[places[2 * i + 1] + kx]);
        a[i][2] = __float_as_uint(from[places[2 * i] + kx + 4 * kPlane]);
        a[i][3] = __float_as_uint(from[places[2 * i + 1] + kx + 4 * kPlane]);
      }
#pragma unroll
      for (int j = 0; j < kTn; ++j) {
        b[j][0] = __float_as_uint(n[kx * kGroup * kPitch + j * 8]);
        b[j][1] = __float_as_uint(n[(kx * kGroup + 4) * kPitch + j * 8]);
      }
      tile.fragments.add_products(a, b);
    }
  }

  template <typename Visit>
  __device__ void each(Visit&& visit) const {
    tile.each(visit);
  }
};

// Groups of planes in memory at once. For kernels of one stage per group, one more group has to be on its
// way.
template <int kKernel>
constexpr int plane_slots() {
  return kKernel == 1 ? 3 : 2;
}

template <typename Planes, int kKernel>
constexpr size_t plane_bytes() {
  return sizeof(float) *
         (kStages * kKernel * kGroup * (Planes::kN + 8) + plane_slots<kKernel>() * kGroup * kPlane);
}

// Grid: tiles of 128 pixels, tiles of n, jobs.
template <typename Planes, int kKernel, typename Epilogue>
__global__ void __launch_bounds__(kThreads, 4) planes_kernel(PlaneImages p, Epilogue epilogue) {
  constexpr int kTile = 128, kPad = kKernel / 2, kPitch = Planes::kN + 8, kStageRows = kKernel * kGroup;
  constexpr int kSlots = plane_slots<kKernel>(), kOwned = (kPlane + kThreads - 1) / kThreads;
  extern __shared__ __align__(16) float memory[];
  float* weight_tiles = memory;
  float* planes = memory + kStages * kStageRows * kPitch;

  const int job = blockIdx.z, first_m = blockIdx.x * kTile, first_n = blockIdx.y * Planes::kN;
  const int last = min(first_m + kTile, p.images * p.out_pixels) - 1;
  const int first_row = stacked_row(p, kKernel, first_m);
  const int rows = stacked_row(p, kKernel, last) + kKernel - first_row, pitch = p.width + kKernel - 1;
  const float* images = p.values + static_cast<size_t>(job) * p.images * p.channels * p.height * p.width;

  // Which values of every plane this thread brings in.
  int from[kOwned];
  bool inside[kOwned];
#pragma unroll
  for (int i = 0; i < kOwned; ++i) {
    const int place = threadIdx.x + i * kThreads, row = place / pitch;
    const int image = (first_row + row) / (p.height + kKernel - 1);
    const int y = (first_row + row) % (p.height + kKernel - 1) - kPad, x = place % pitch - kPad;
    inside[i] = row < rows && y >= 0 && y < p.height && x >= 0 && x < p.width;
    from[i] = inside[i] ? image * p.channels * p.height * p.width + y * p.width + x : 0;
  }
  int places[Planes::kPixels];
#pragma unroll
  for (int i = 0; i < Planes::kPixels; ++i) {
    const int m = min(first_m + Planes::pixel(i), last);
    places[i] = (stacked_row(p, kKernel, m) - first_row) * pitch + m % p.out_pixels % p.out_width * p.stride;
  }

  const int stages = p.groups() * kKernel;
  const float* weights =
      p.weights + job * p.weight_stride + static_cast<size_t>(blockIdx.y) * stages * kStageRows * Planes::kN;
  const auto load = [&](int stage) {
    if (stage < stages) {
      float* tile = weight_tiles + stage % kStages * kStageRows * kPitch;
      const float* source = weights + static_cast<size_t>(stage) * kStageRows * Planes::kN;
      for (int i = threadIdx.x; i < kStageRows * Planes::kN / 4; i += kThreads) {
        const int row = i / (Planes::kN / 4), column = i % (Planes::kN / 4) * 4;
        copy_async_16(tile + row * kPitch + column, source + i * 4, true);
      }
      if (stage % kKernel == 0) {
        const int group = stage / kKernel;
        float* to = planes + group % kSlots * kGroup * kPlane;
#pragma unroll
        for (int c = 0; c < kGroup; ++c) {
          const bool there = group * kGroup + c < p.channels;
          const float* plane =
              images + static_cast<size_t>(there ? group * kGroup + c : 0) * p.height * p.width;
#pragma unroll
          for (int i = 0; i < kOwned; ++i) {
            const int place = threadIdx.x + i * kThreads;
            if (place < kPlane) copy_async(to + c * kPlane + place, plane + from[i], there && inside[i]);
          }
        }
      }
    }
    commit_copies();
  };
#pragma unroll
  for (int stage = 0; stage < kStages - 1; ++stage) load(stage);

  Planes sums;
  for (int stage = 0; stage < stages; ++stage) {
    await_copies<kStages - 2>();
    if (Planes::kRounds && stage % kKernel == 0) {  // the values that this thread itself brought in
      float* mine = planes + stage / kKernel % kSlots * kGroup * kPlane + threadIdx.x;
#pragma unroll
      for (int c = 0; c < kGroup; ++c) {
#pragma unroll
        for (int i = 0; i < kOwned; ++i) {
          if (static_cast<int>(threadIdx.x) + i * kThreads >= kPlane) continue;
          float& value = mine[c * kPlane + i * kThreads];
          value = __uint_as_float(rounded(value));
        }
      }
    }
    __syncthreads();
    load(stage + kStages - 1);
    sums.template multiply<kKernel, kPitch>(planes + stage / kKernel % kSlots * kGroup * kPlane, places,
                                            stage % kKernel * pitch,
                                            weight_tiles + stage % kStages * kStageRows * kPitch);
  }
  epilogue.finish(job, 0, first_m, first_n, sums);
}

// Whether every tile of such a convolution has room for its part of a plane.
inline bool fits_planes(const PlaneImages& p, int kernel) {
  if (kernel != 1 && kernel != 3 && kernel != 5) return false;
  const int pixels = p.images * p.out_pixels;
  for (int first = 0; first < pixels; first += 128) {
    const int last = min(first + 128, pixels) - 1;
    const int rows = stacked_row(p, kernel, last) + kernel - stacked_row(p, kernel, first);
    if (rows * (p.width + kernel - 1) > kPlane) return false;
  }
  return true;
}

// Columns of a tile. In f32, more would cost more registers than they save in reading.
constexpr int plane_columns(bool tf32, int n) { return !tf32 || is_narrow(n) ? 32 : 64; }

// Values of the arranged weights of one job.
inline size_t arranged_size(bool tf32, int channels, int kernel, int n) {
  const int columns = plane_columns(tf32, n);
  return static_cast<size_t>(pieces(n, columns)) * columns * pieces(channels, kGroup) * kGroup * kernel *
         kernel;
}

template <typename Planes, int kKernel, typename Epilogue>
void launch_planes(const PlaneImages& p, const Epilogue& epilogue, int n, int jobs, cudaStream_t stream) {
  constexpr size_t kBytes = plane_bytes<Planes, kKernel>();
  const auto kernel = planes_kernel<Planes, kKernel, Epilogue>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(kBytes)),
        "asking for shared memory");
  const dim3 grid(pieces(p.images * p.out_pixels, 128), pieces(n, Planes::kN), jobs);
  kernel<<<grid, kThreads, kBytes, stream>>>(p, epilogue);
}

template <int kKernel, typename Epilogue>
void launch_planes(bool tf32, const PlaneImages& p, const Epilogue& epilogue, int n, int jobs,
                   cudaStream_t stream) {
  if (!tf32) return launch_planes<F32Planes, kKernel>(p, epilogue, n, jobs, stream);
  if (plane_columns(tf32, n) == 32)
    return launch_planes<Tf32Planes<32>, kKernel>(p, epilogue, n, jobs, stream);
  return launch_planes<Tf32Planes<64>, kKernel>(p, epilogue, n, jobs, stream);
}

// For kernels that fits_planes() has let through.
template <typename Epilogue>
void launch_planes(bool tf32, int kernel, const PlaneImages& p, const Epilogue& epilogue, int n, int jobs,
                   cudaStream_t stream) {
  if (kernel == 1) return launch_planes<1>(tf32, p, epilogue, n, jobs, stream);
  if (kernel == 3) return launch_planes<3>(tf32, p, epilogue, n, jobs, stream);
  return launch_planes<5>(tf32, p, epilogue, n, jobs, stream);
}

// How weights [filter][channel][tap] are arranged for planes_kernel. Forward, n is a filter. For the input's
// gradient, n is a channel, the sum runs over the filters, and the taps are turned round.
struct ArrangedWeights {
  const float* weights;
  size_t stride;
  float* to;
  size_t to_stride;
  int channels, filters, taps;
  bool back, tf32;
};
void arrange_weights(const ArrangedWeights& a, int jobs, cudaStream_t stream);

}  // namespace subfleet::cuda
