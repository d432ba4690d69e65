#include "nn/cuda/layer.h"
#include "nn/cuda/matrix_products.cuh"
#include "nn/cuda/step_weights.cuh"

// The first convolution of grey images, with its ReLU and its maxpool. The convolution's output is the
// largest tensor of the network, and pooling drops three of four values, so it is never written to memory.
// Forward, a thread has the four values of a window. The gradient needs only the pixels around each window's
// largest.
namespace subfleet::cuda {
namespace {

constexpr int kWarps = 8, kFilters = 2;  // of one warp, forward
constexpr int kPool = 2;
constexpr int kImages = 2;  // of one block

struct Grey {
  int height, width, out_height, out_width, filters, rows, pitch;
  float scale;
  __host__ __device__ int positions() const { return out_height * out_width; }
};

// The image with a border of zeros.
template <int kKernel>
__device__ void load_image(const Grey& g, const float* x, float* image) {
  constexpr int kPad = kKernel / 2;
  const int height = g.height + 2 * kPad;
  for (int i = threadIdx.x; i < height * g.pitch; i += kWarps * 32) {
    const int y = i / g.pitch - kPad, column = i % g.pitch - kPad;
    const bool inside = y >= 0 && y < g.height && column >= 0 && column < g.width;
    image[i] = inside ? x[y * g.width + column] : 0.0f;
  }
}

// A warp has two filters and its lanes share the windows out. Grid: filters, images, jobs.
template <int kKernel>
__global__ void __launch_bounds__(kWarps * 32)
    grey_forward(Grey g, const float* __restrict__ weights, size_t stride, const float* __restrict__ x,
                 float* __restrict__ y, uint8_t* __restrict__ from) {
  constexpr int kTaps = kKernel * kKernel, kPatch = kKernel + kPool - 1;
  extern __shared__ float image[];
  const int lane = threadIdx.x & 31, job = blockIdx.z;
  const int filter = (blockIdx.x * kWarps + (threadIdx.x >> 5)) * kFilters;
  const float* w = weights + job * stride;
  float weight[kFilters][kTaps], bias[kFilters];
#pragma unroll
  for (int f = 0; f < kFilters; ++f) {
    const int mine = min(filter + f, g.filters - 1);
#pragma unroll
    for (int tap = 0; tap < kTaps; ++tap) weight[f][tap] = __ldg(w + mine * kTaps + tap);
    bias[f] = __ldg(w + g.filters * kTaps + mine);
  }
  for (int row = blockIdx.y * kImages; row < min(g.rows, static_cast<int>(blockIdx.y + 1) * kImages); ++row) {
    const size_t index = static_cast<size_t>(job) * g.rows + row;
    __syncthreads();
    load_image<kKernel>(g, x + index * g.height * g.width, image);
    __syncthreads();
    for (int position = lane; position < g.positions(); position += 32) {
      const float* corner = image + position / g.out_width * kPool * g.pitch + position % g.out_width * kPool;
      float sum[kFilters][kPool * kPool] = {};
#pragma unroll
      for (int py = 0; py < kPatch; ++py) {
        float line[kPatch];
#pragma unroll
        for (int px = 0; px < kPatch; ++px) line[px] = corner[py * g.pitch + px];
#pragma unroll
        for (int place = 0; place < kPool * kPool; ++place) {
          const int ky = py - place / kPool;
          if (ky < 0 || ky >= kKernel) continue;
#pragma unroll
          for (int kx = 0; kx < kKernel; ++kx) {
#pragma unroll
            for (int f = 0; f < kFilters; ++f)
              sum[f][place] = fmaf(weight[f][ky * kKernel + kx], line[place % kPool + kx], sum[f][place]);
          }
        }
      }
#pragma unroll
      for (int f = 0; f < kFilters; ++f) {
        if (filter + f >= g.filters) continue;
        float best = fmaxf(sum[f][0] + bias[f], 0.0f);
        uint8_t place = 0;
#pragma unroll
        for (int i = 1; i < kPool * kPool; ++i) {
          const float value = sum[f][i] + bias[f];
          if (value > best) best = value, place = static_cast<uint8_t>(i);
        }
        const size_t at = (index * g.filters + filter + f) * g.positions() + position;
        y[at] = g.scale * best;
        from[at] = place;
      }
    }
  }
}

// A warp has one filter; its lanes divide the windows. Even and odd columns of the image are stored apart:
// neighbouring windows begin two pixels apart and so lie in neighbouring banks.
// parts: [job][group of images][filter][tap, and the bias].
template <int kKernel>
__global__ void __launch_bounds__(kWarps * 32)
    grey_gradient(Grey g, const float* __restrict__ x, const float* __restrict__ y,
                  const float* __restrict__ dy, const uint8_t* __restrict__ from, float* __restrict__ parts) {
  constexpr int kTaps = kKernel * kKernel, kPad = kKernel / 2, kLoadsAtOnce = 7;
  extern __shared__ float image[];
  const int lane = threadIdx.x & 31, job = blockIdx.z;
  const int filter = blockIdx.x * kWarps + (threadIdx.x >> 5);
  const int height = g.height + 2 * kPad, pitch = (g.pitch + 1) / 2, odd = height * pitch;
  float sum[kTaps + 1] = {};
  for (int row = blockIdx.y * kImages; row < min(g.rows, static_cast<int>(blockIdx.y + 1) * kImages); ++row) {
    const size_t index = static_cast<size_t>(job) * g.rows + row;
    __syncthreads();
    for (int i = threadIdx.x; i < height * g.pitch; i += kWarps * 32) {
      const int line = i / g.pitch, column = i % g.pitch;
      const bool inside = line >= kPad && line < g.height + kPad && column >= kPad && column < g.width + kPad;
      image[(column % 2) * odd + line * pitch + column / 2] =
          inside ? x[(index * g.height + line - kPad) * g.width + column - kPad] : 0.0f;
    }
    __syncthreads();
    if (filter >= g.filters) continue;
    const size_t first = (index * g.filters + filter) * g.positions();
    for (int begin = 0; begin < g.positions(); begin += 32 * kLoadsAtOnce) {
      float gradient[kLoadsAtOnce];
      int corner[kLoadsAtOnce];
      bool begins_odd[kLoadsAtOnce];
#pragma unroll
      for (int i = 0; i < kLoadsAtOnce; ++i) {  // all loads are issued before one is used
        const int position = min(begin + i * 32 + lane, g.positions() - 1);
        const float value = y[first + position], came = dy[first + position];
        const int place = from[first + position];
        gradient[i] = begin + i * 32 + lane < g.positions() && value > 0 ? came : 0.0f;
        corner[i] = (position / g.out_width * kPool + place / kPool) * pitch + position % g.out_width;
        begins_odd[i] = place % kPool == 1;
      }
#pragma unroll
      for (int i = 0; i < kLoadsAtOnce; ++i) {
        // Where the columns of even and of odd taps lie.
        const float* even = image + corner[i] + (begins_odd[i] ? odd : 0);
        const float* other = image + corner[i] + (begins_odd[i] ? 1 : odd);
#pragma unroll
        for (int tap = 0; tap < kTaps; ++tap) {
          const int ky = tap / kKernel, kx = tap % kKernel;
          sum[tap] = fmaf(gradient[i], (kx % 2 == 0 ? even : other)[ky * pitch + kx / 2], sum[tap]);
        }
        sum[kTaps] += gradient[i];
      }
    }
  }
  if (filter >= g.filters) return;
  warp_sums(sum);
  float* out =
      parts + ((static_cast<size_t>(job) * gridDim.y + blockIdx.y) * g.filters + filter) * (kTaps + 1);
#pragma unroll
  for (int i = 0; i <= kTaps; ++i) {
    if (lane == i % 32) out[i] = sum[i];
  }
}

class GreyConv final : public Layer {
 public:
  explicit GreyConv(const LayerPlan& plan)
      : plan_(plan), kernel_(static_cast<int>(plan.site.spec.kernel)), groups_(pieces(plan.rows, kImages)) {
    g_ = {.height = static_cast<int>(plan.site.input.height),
          .width = static_cast<int>(plan.site.input.width),
          .out_height = static_cast<int>(plan.site.output.height),
          .out_width = static_cast<int>(plan.site.output.width),
          .filters = static_cast<int>(plan.site.output.channels),
          .rows = plan.rows,
          .pitch = 0,
          .scale = plan.site.spec.output_scale};
    // Two rows of windows on: neighbouring windows then lie in neighbouring banks, across rows too.
    g_.pitch = g_.width + kernel_ - 1;
    while (g_.pitch % 16 != g_.out_width % 16) ++g_.pitch;
  }

  void reserve(int jobs) override {
    from_.grow(static_cast<size_t>(jobs) * g_.rows * g_.filters * g_.positions());
    parts_.grow(static_cast<size_t>(jobs) * groups_ * g_.filters * (kernel_ * kernel_ + 1));
  }

  void forward(const Step& step, const float* x, float* y) override {
    const dim3 grid(pieces(g_.filters, kWarps * kFilters), groups_, step.jobs);
    const auto kernel = kernel_ == 3 ? grey_forward<3> : grey_forward<5>;
    kernel<<<grid, kWarps * 32, shared_bytes(), step.stream>>>(g_, weights(step), step.stride, x, y,
                                                               from_.data());
    check_launch("conv2d of grey images");
  }

  void backward(const Step& step, const float* x, const float* y, const float* dy, float*) override {
    const dim3 grid(pieces(g_.filters, kWarps), groups_, step.jobs);
    const auto kernel = kernel_ == 3 ? grey_gradient<3> : grey_gradient<5>;
    kernel<<<grid, kWarps * 32, shared_bytes(), step.stream>>>(g_, x, y, dy, from_.data(), parts_.data());
    check_launch("gradient of conv2d of grey images");
    step_by_parts(parts_.data(), groups_,
                  {weights(step), step.stride, kernel_ * kernel_, g_.filters, g_.scale * step.client_lr},
                  step.jobs, step.stream);
  }

 private:
  float* weights(const Step& step) const { return step.weights + plan_.site.weights_offset; }
  size_t shared_bytes() const {
    return static_cast<size_t>(g_.height + kernel_ - 1) * (g_.pitch + 1) * sizeof(float);
  }

  LayerPlan plan_;
  int kernel_, groups_;
  Grey g_{};
  Buffer<uint8_t> from_;
  Buffer<float> parts_;
};

}  // namespace

bool fits_grey_conv(const LayerSite& conv, size_t pool) {
  constexpr size_t kMostPixels = 64 * 96;  // that a block has room for, with their border
  return conv.spec.type == "conv2d" && conv.input.channels == 1 && conv.spec.stride == 1 && pool == kPool &&
         (conv.spec.kernel == 3 || conv.spec.kernel == 5) &&
         (conv.input.height + 4) * (conv.input.width + 20) <= kMostPixels;
}

std::unique_ptr<Layer> make_grey_conv(const LayerPlan& plan) { return std::make_unique<GreyConv>(plan); }

}  // namespace subfleet::cuda
