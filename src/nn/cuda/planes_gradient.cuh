#pragma once

#include "nn/cuda/planes.cuh"

// The gradient of a convolution's weights in TF32: the sum over all pixels of the input times the gradient of
// the output. Stretches of an image's rows, with their borders, lie in shared memory and serve all taps. A
// block has 16 channels and 32 filters; each of its warps does one row of the kernel.
namespace subfleet::cuda {

constexpr int kGradientChannels = 16, kGradientFilters = 32;
constexpr int kStretch = 104;       // room for that many output pixels, a multiple of 8
constexpr int kStretchPitch = 108;  // so that neighbouring filters' values lie in different banks
constexpr int kStretchPlane = 228;  // room for that many values of a plane; the same holds

struct GradientImages {
  const float* x;   // [job][image][channel][height][width]
  const float* dy;  // [job][image][filter][out_height][out_width]
  int images, channels, height, width;
  int filters, out_height, out_width, stride;
  int rows;      // output rows of a stretch
  int splits;    // groups of images
  float* parts;  // [job][split][tap][channel][filter], and after them the biases'
};

// How many output rows a stretch has; 0 if there is not room for one.
inline int stretch_rows(int width, int out_width, int out_height, int kernel, int stride) {
  const int by_pixels = kStretch / out_width, plane_rows = kStretchPlane / (width + kernel - 1);
  if (plane_rows < kernel) return 0;
  return min(out_height, min(by_pixels, (plane_rows - kernel) / stride + 1));
}

template <int kKernel>
struct GradientSums {
  static constexpr int kTn = kGradientFilters / 8;
  TensorFragments<1, kTn> block[kKernel];
  float bias[kTn] = {};  // of filters 8 apart, over a quarter of the pixels

  static __device__ int lane() { return static_cast<int>(threadIdx.x) & 31; }

  __device__ void multiply(const float* planes, const int* places, const float* gradients) {
    const int g = lane() / 4, t = lane() % 4;
    const float* from = planes + g * kStretchPlane;
    for (int k = 0; k < kStretch; k += 8) {
      uint32_t b[kTn][2];
#pragma unroll
      for (int j = 0; j < kTn; ++j) {
        const float* pixel = gradients + (j * 8 + g) * kStretchPitch + k + t;
        b[j][0] = rounded(pixel[0]);
        b[j][1] = rounded(pixel[4]);
        bias[j] += pixel[0] + pixel[4];
      }
      const int first = places[k + t], second = places[k + t + 4];
#pragma unroll
      for (int tap = 0; tap < kKernel; ++tap) {
        uint32_t a[1][4];
        a[0][0] = __float_as_uint(from[first + tap]);
        a[0][1] = __float_as_uint(from[8 * kStretchPlane + first + tap]);
        a[0][2] = __float_as_uint(from[second + tap]);
        a[0][3] = __float_as_uint(from[8 * kStretchPlane + second + tap]);
        block[tap].add_products(a, b);
      }
    }
  }
  // Calls visit(tap, channel, filter, two) for all values of this thread; `two` are the values of two
  // neighbouring filters.
  template <typename Visit>
  __device__ void each(Visit&& visit) const {
    const int g = lane() / 4, t = lane() % 4;
#pragma unroll
    for (int tap = 0; tap < kKernel; ++tap) {
#pragma unroll
      for (int j = 0; j < kTn; ++j) {
        const float* sum = block[tap].sum[0][j];
        visit(tap, g, j * 8 + t * 2, make_float2(sum[0], sum[1]));
        visit(tap, g + 8, j * 8 + t * 2, make_float2(sum[2], sum[3]));
      }
    }
  }
  // Calls visit(filter, value) on the thread that has the sum.
  template <typename Visit>
  __device__ void each_bias(Visit&& visit) {
#pragma unroll
    for (int j = 0; j < kTn; ++j) {
      bias[j] += __shfl_xor_sync(0xffffffffu, bias[j], 1);
      bias[j] += __shfl_xor_sync(0xffffffffu, bias[j], 2);
      if (lane() % 4 == 0) visit(j * 8 + lane() / 4, bias[j]);
    }
  }
};

constexpr size_t kGradientStage = kGradientChannels * kStretchPlane + kGradientFilters * kStretchPitch;
constexpr size_t kGradientBytes = sizeof(float) * (2 * kGradientStage + kStretch);

// Grid: tiles of channels, tiles of filters, jobs * splits. A warp per row of the kernel.
template <int kKernel>
__global__ void __launch_bounds__(32 * kKernel, 3) planes_gradient_kernel(GradientImages p) {
  constexpr int kBlock = 32 * kKernel, kPad = kKernel / 2;
  extern __shared__ __align__(16) float memory[];
  int* places = reinterpret_cast<int*>(memory + 2 * kGradientStage);
  const int job = blockIdx.z / p.splits, split = blockIdx.z % p.splits;
  const int first_channel = blockIdx.x * kGradientChannels, first_filter = blockIdx.y * kGradientFilters;
  const int pitch = p.width + kKernel - 1, plane_rows = (p.rows - 1) * p.stride + kKernel;
  const int out_pixels = p.out_height * p.out_width, stretches = (p.out_height + p.rows - 1) / p.rows;
  const int per_split = (p.images + p.splits - 1) / p.splits;
  const int first_image = split * per_split, images = min(p.images, first_image + per_split) - first_image;

  for (int k = threadIdx.x; k < kStretch; k += kBlock) {
    const int row = k / p.out_width;
    places[k] = row < p.rows ? row * p.stride * pitch + k % p.out_width * p.stride : 0;
  }
  const auto load = [&](int index) {
    if (index < images * stretches) {
      const int first_row = index % stretches * p.rows;
      const size_t image = static_cast<size_t>(job) * p.images + first_image + index / stretches;
      float* planes = memory + index % 2 * kGradientStage;
      for (int place = threadIdx.x; place < plane_rows * pitch; place += kBlock) {
        const int y = first_row * p.stride + place / pitch - kPad, x = place % pitch - kPad;
        const bool inside = y >= 0 && y < p.height && x >= 0 && x < p.width;
        const float* from =
            p.x + (image * p.channels + first_channel) * p.height * p.width + (inside ? y * p.width + x : 0);
#pragma unroll
        for (int c = 0; c < kGradientChannels; ++c) {
          const bool there = inside && first_channel + c < p.channels;
          copy_async(planes + c * kStretchPlane + place, there ? from + c * p.height * p.width : p.x, there);
        }
      }
      float* gradients = planes + kGradientChannels * kStretchPlane;
      const int pixels = min(p.rows, p.out_height - first_row) * p.out_width;
      const float* dy = p.dy + (image * p.filters + first_filter) * out_pixels + first_row * p.out_width;
      for (int i = threadIdx.x; i < kGradientFilters * kStretch; i += kBlock) {
        const int filter = i / kStretch, k = i % kStretch;
        const bool there = k < pixels && first_filter + filter < p.filters;
        copy_async(gradients + filter * kStretchPitch + k, there ? dy + filter * out_pixels + k : p.dy,
                   there);
      }
    }
    commit_copies();
  };

  const int warp = threadIdx.x / 32;
  GradientSums<kKernel> sums;
  load(0);
  for (int index = 0; index < images * stretches; ++index) {
    load(index + 1);
    await_copies<1>();
    float* planes = memory + index % 2 * kGradientStage;
    // What this thread itself has brought in is rounded once: the taps use it many times.
    for (int place = threadIdx.x; place < plane_rows * pitch; place += kBlock) {
#pragma unroll
      for (int c = 0; c < kGradientChannels; ++c) {
        float& value = planes[c * kStretchPlane + place];
        value = __uint_as_float(rounded(value));
      }
    }
    __syncthreads();
    const float* gradients = planes + kGradientChannels * kStretchPlane;
    sums.multiply(planes + warp * pitch, places, gradients);
    __syncthreads();
  }

  const int depth = p.channels * kKernel * kKernel;
  float* out = p.parts + static_cast<size_t>(job * p.splits + split) * p.filters * (depth + 1);
  sums.each([&](int tap, int channel, int filter, float2 two) {
    channel += first_channel, filter += first_filter;
    if (channel >= p.channels || filter >= p.filters) return;
    float* to = out + (static_cast<size_t>(warp * kKernel + tap) * p.channels + channel) * p.filters + filter;
    if (p.filters % 2 == 0) {
      *reinterpret_cast<float2*>(to) = two;
    } else {
      to[0] = two.x;
      if (filter + 1 < p.filters) to[1] = two.y;
    }
  });
  if (blockIdx.x > 0 || warp > 0) return;
  sums.each_bias([&](int filter, float value) {
    filter += first_filter;
    if (filter < p.filters) out[static_cast<size_t>(depth) * p.filters + filter] = value;
  });
}

template <int kKernel>
void launch_planes_gradient(const GradientImages& p, int jobs, cudaStream_t stream) {
  const auto kernel = planes_gradient_kernel<kKernel>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(kGradientBytes)),
        "asking for shared memory");
  const dim3 grid(pieces(p.channels, kGradientChannels), pieces(p.filters, kGradientFilters),
                  jobs * p.splits);
  kernel<<<grid, 32 * kKernel, kGradientBytes, stream>>>(p);
}

inline void launch_planes_gradient(int kernel, const GradientImages& p, int jobs, cudaStream_t stream) {
  return kernel == 3 ? launch_planes_gradient<3>(p, jobs, stream)
                     : launch_planes_gradient<5>(p, jobs, stream);
}

// How many groups the images are summed in. It depends on one job's shapes alone, and a few dozen jobs fill a
// GPU.
inline int gradient_splits(int channels, int filters, int images) {
  constexpr int kWantedBlocks = 10;
  const int tiles = pieces(channels, kGradientChannels) * pieces(filters, kGradientFilters);
  const int splits = min(images, max(1, (kWantedBlocks + tiles / 2) / tiles));
  return pieces(images, pieces(images, splits));
}

}  // namespace subfleet::cuda
