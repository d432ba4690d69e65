#include <algorithm>
#include <string>
#include <vector>

#include "nn/cuda/layer.h"
#include "nn/cuda/planes.cuh"
#include "nn/cuda/planes_gradient.cuh"
#include "nn/cuda/step_weights.cuh"
#include "nn/cuda/tiles.cuh"
#include "subfleet/error.h"

// Most convolutions read planes (planes.cuh, planes_gradient.cuh). Where those do not fit, and for the
// weights in f32: A convolution is a product over (channel, tap): the values that meet a tap lie at one
// distance from those that meet another, so an operand is picked out of the images by two tables, one of
// pixels and one of taps. A tap that falls outside an image is found by bits: a pixel has one per row and one
// per column of the kernel that it can meet, a tap those that it needs.
namespace subfleet::cuda {
namespace {

constexpr int kWidestKernel = 15;
constexpr uint32_t kNever = 1u << 15;  // a bit that no pixel has

struct Geometry {
  int channels, height, width;         // of the input
  int filters, out_height, out_width;  // of the output
  int kernel, stride, pad;
  __host__ __device__ int pixels() const { return height * width; }
  __host__ __device__ int out_pixels() const { return out_height * out_width; }
  __host__ __device__ int taps() const { return kernel * kernel; }
  __host__ __device__ int depth() const { return channels * taps(); }
};

// Where an output pixel's window begins in its image, and which rows and columns of it lie inside.
__host__ __device__ inline int2 window(const Geometry& g, int pixel) {
  const int y = pixel / g.out_width * g.stride - g.pad, x = pixel % g.out_width * g.stride - g.pad;
  uint32_t bits = 0;
  for (int k = 0; k < g.kernel; ++k) {
    bits |= (y + k >= 0 && y + k < g.height ? 1u : 0u) << k;
    bits |= (x + k >= 0 && x + k < g.width ? 1u : 0u) << (k + 16);
  }
  return make_int2(y * g.width + x, static_cast<int>(bits));
}

// The same backwards: the output pixels whose windows hold an input pixel. With a stride only every so many
// taps meet one, and dividing a tap by the stride counts how far back.
__host__ __device__ inline int2 reach(const Geometry& g, int pixel) {
  const int y = pixel / g.width + g.pad, x = pixel % g.width + g.pad;
  uint32_t bits = 0;
  for (int k = 0; k < g.kernel; ++k) {
    const bool row = y >= k && (y - k) % g.stride == 0 && (y - k) / g.stride < g.out_height;
    const bool column = x >= k && (x - k) % g.stride == 0 && (x - k) / g.stride < g.out_width;
    bits |= (row ? 1u : 0u) << k;
    bits |= (column ? 1u : 0u) << (k + 16);
  }
  return make_int2(y / g.stride * g.out_width + x / g.stride, static_cast<int>(bits));
}

// Rows are pixels of all images of a job, k a (plane, tap) by table.
template <bool kBackwards>
struct Pixels {
  const float* values;
  const int2* taps;  // distance and bits
  Geometry g;
  int rows;  // pixels of all images

  template <int kRows>
  struct Loader {
    using Owner = AlongRows<kRows>;
    const float* at[Owner::kOwned];
    uint32_t bits[Owner::kOwned];
    const float* values;
    const int2* taps;

    __device__ Loader(const Pixels& p, int job, int first) : values(p.values), taps(p.taps) {
      const Geometry& g = p.g;
      const int per_image = kBackwards ? g.pixels() : g.out_pixels();
      const int image_size = kBackwards ? g.filters * g.out_pixels() : g.channels * g.pixels();
#pragma unroll
      for (int i = 0; i < Owner::kOwned; ++i) {
        const int row = first + Owner::row(i);
        const int image = row / per_image;
        const int2 place =
            kBackwards ? reach(g, row - image * per_image) : window(g, row - image * per_image);
        at[i] = p.values + (static_cast<int64_t>(job) * (p.rows / per_image) + image) * image_size + place.x;
        bits[i] = row < p.rows ? static_cast<uint32_t>(place.y) : 0;
      }
    }
    template <int kPitch>
    __device__ void load(float* tile, int k0, int) const {
#pragma unroll
      for (int k = 0; k < kDepth; k += Owner::kSteps) {
        const int kk = k + Owner::first_k();
        const int2 tap = __ldg(taps + k0 + kk);
        const auto needs = static_cast<uint32_t>(tap.y);
#pragma unroll
        for (int i = 0; i < Owner::kOwned; ++i) {
          const bool valid = (bits[i] & needs) == needs;
          copy_async(tile + kk * kPitch + Owner::row(i), valid ? at[i] + tap.x : values, valid);
        }
      }
    }
  };
};

// Value (row, k) at row * stride + offsets[k].
struct ByTable {
  const float* values;
  size_t job_stride;
  const int* offsets;
  int rows, stride;

  template <int kRows>
  struct Loader {
    using Owner = AlongK<kRows>;
    const float* at;
    const int* offsets;
    int rows, stride;
    __device__ Loader(const ByTable& t, int job, int first)
        : at(t.values + job * t.job_stride + static_cast<size_t>(first + Owner::first_row()) * t.stride),
          offsets(t.offsets),
          rows(t.rows - first - Owner::first_row()),
          stride(t.stride) {}
    template <int kPitch>
    __device__ void load(float* tile, int k0, int k_end) const {
      const bool in = k0 + Owner::k() < k_end;
      const int offset = in ? __ldg(offsets + k0 + Owner::k()) : 0;
      float* to = tile + Owner::k() * kPitch + Owner::first_row();
#pragma unroll
      for (int i = 0; i < kRows; i += Owner::kStep) {
        const bool valid = in && i < rows;
        copy_async(to + i, valid ? at + offset + static_cast<size_t>(i) * stride : at, valid);
      }
    }
  };
};

// For the gradient of the weights: rows are (channel, tap) and, last, a row of ones for the bias; k is a
// pixel of any image of the job.
struct Taps {
  const float* values;
  size_t job_stride;
  const int2* taps;
  const int2* pixels;  // of all images: where the window begins, and bits
  const float* one;
  int rows;

  template <int kRows>
  struct Loader {
    using Owner = AlongK<kRows>;
    const float* values;
    const Taps& t;
    int first;
    __device__ Loader(const Taps& taps, int job, int first_)
        : values(taps.values + job * taps.job_stride), t(taps), first(first_ + Owner::first_row()) {}
    template <int kPitch>
    __device__ void load(float* tile, int k0, int k_end) const {
      const bool in = k0 + Owner::k() < k_end;
      const int2 pixel = in ? __ldg(t.pixels + k0 + Owner::k()) : make_int2(0, 0);
      float* to = tile + Owner::k() * kPitch + Owner::first_row();
#pragma unroll
      for (int i = 0; i < kRows; i += Owner::kStep) {
        const int row = first + i;
        const int2 tap = __ldg(t.taps + row);
        const auto needs = static_cast<uint32_t>(tap.y);
        const bool bias = in && row == t.rows - 1;
        const bool valid = in && (static_cast<uint32_t>(pixel.y) & needs) == needs;
        copy_async(to + i, valid ? values + pixel.x + tap.x : t.one, valid || bias);
      }
    }
  };
};

// y[image][filter][pixel] = value + bias, through ReLU if that is next.
struct StoreOutput {
  float* y;
  const float* bias;
  size_t bias_stride;
  int rows, pixels, filters;
  bool relu;

  template <typename Tile>
  __device__ void finish(int job, int, int first_m, int first_n, const Tile& tile) const {
    float* out = y + static_cast<size_t>(job) * rows * filters;
    const float* add = bias + job * bias_stride;
    tile.each([&](int m, int n, float value) {
      m += first_m, n += first_n;
      if (m >= rows || n >= filters) return;
      const int image = m / pixels;
      value += add[n];
      out[static_cast<size_t>(image * filters + n) * pixels + m - image * pixels] =
          relu && !(value > 0) ? 0 : value;
    });
  }
};

// dx[image][channel][pixel] = value; 0 where x is, if that was a ReLU.
struct StoreGradient {
  float* dx;
  const float* x;  // null: all of it counts
  int rows, pixels, channels;

  template <typename Tile>
  __device__ void finish(int job, int, int first_m, int first_n, const Tile& tile) const {
    const size_t begin = static_cast<size_t>(job) * rows * channels;
    tile.each([&](int m, int n, float value) {
      m += first_m, n += first_n;
      if (m >= rows || n >= channels) return;
      const int image = m / pixels;
      const size_t at = begin + static_cast<size_t>(image * channels + n) * pixels + m - image * pixels;
      dx[at] = x != nullptr && !(x[at] > 0) ? 0 : value;
    });
  }
};

// One split's part of a gradient, to be added to the others' in their order.
struct StorePart {
  float* parts;  // [job][split][filter][depth + 1]
  int depth, filters, splits;

  template <typename Tile>
  __device__ void finish(int job, int split, int first_m, int first_n, const Tile& tile) const {
    float* out = parts + static_cast<size_t>(job * splits + split) * filters * (depth + 1);
    tile.each([&](int m, int n, float value) {
      m += first_m, n += first_n;
      if (m <= depth && n < filters) out[static_cast<size_t>(n) * (depth + 1) + m] = value;
    });
  }
};

template <typename T>
Buffer<T> uploaded(const std::vector<T>& values) {
  Buffer<T> buffer(values.size());
  buffer.upload(values, nullptr);
  check(cudaStreamSynchronize(nullptr), "copying to the GPU");
  return buffer;
}

class Conv2d final : public Layer {
 public:
  explicit Conv2d(const LayerPlan& plan)
      : plan_(plan),
        g_{.channels = static_cast<int>(plan.site.input.channels),
           .height = static_cast<int>(plan.site.input.height),
           .width = static_cast<int>(plan.site.input.width),
           .filters = static_cast<int>(plan.site.output.channels),
           .out_height = static_cast<int>(plan.site.output.height),
           .out_width = static_cast<int>(plan.site.output.width),
           .kernel = static_cast<int>(plan.site.spec.kernel),
           .stride = static_cast<int>(plan.site.spec.stride),
           .pad = static_cast<int>(plan.site.spec.kernel / 2)} {
    if (g_.kernel > kWidestKernel) {
      throw bad_request("device cuda", "a kernel of " + std::to_string(g_.kernel) + " is wider than the " +
                                           std::to_string(kWidestKernel) + " that it can; use --device cpu");
    }
    make_tables();
    planes_ = fits_planes(images(nullptr), g_.kernel);
    // Backwards a stride leaves gaps between the images' pixels.
    stretch_rows_ = stretch_rows(g_.width, g_.out_width, g_.out_height, g_.kernel, g_.stride);
    // Plain products are faster in f32, and where a block would have few channels.
    if (!plan_.tf32 || !planes_ || g_.kernel == 1 || g_.channels < 8) stretch_rows_ = 0;
    planes_back_ = g_.stride == 1 && fits_planes(gradient_images(nullptr), g_.kernel);
  }

  void reserve(int jobs) override {
    if (planes_) arranged_.grow(jobs * arranged_size(plan_.tf32, g_.channels, g_.kernel, g_.filters));
    if (planes_back_)
      arranged_back_.grow(jobs * arranged_size(plan_.tf32, g_.filters, g_.kernel, g_.channels));
    const int splits =
        stretch_rows_ > 0 ? gradient_splits(g_.channels, g_.filters, plan_.rows) : gradient_split().count;
    if (stretch_rows_ > 0 || splits > 1)
      parts_.grow(static_cast<size_t>(jobs) * splits * g_.filters * (g_.depth() + 1));
  }

  void forward(const Step& step, const float* x, float* y) override {
    const int rows = step.rows * g_.out_pixels();
    const float* weights = step.weights + plan_.site.weights_offset;
    const Pixels<false> a{x, taps_.data(), g_, rows};
    const RowMajor b{weights, step.stride, g_.filters, g_.depth()};
    const StoreOutput out{y,
                          weights + g_.filters * g_.depth(),
                          step.stride,
                          rows,
                          g_.out_pixels(),
                          g_.filters,
                          plan_.relu_after};
    if (planes_) {
      PlaneImages p = images(x);
      p.weights = arranged_.data();
      p.weight_stride = step.stride == 0 ? 0 : arranged_size(plan_.tf32, g_.channels, g_.kernel, g_.filters);
      arrange_weights({weights, step.stride, arranged_.data(), p.weight_stride, g_.channels, g_.filters,
                       g_.taps(), false, plan_.tf32},
                      step.stride == 0 ? 1 : step.jobs, step.stream);
      launch_planes(plan_.tf32, g_.kernel, p, out, g_.filters, step.jobs, step.stream);
      check_launch("conv2d forward");
      return;
    }
    with_tile(plan_.tf32, rows, g_.filters, [&](auto tile) {
      launch_product<decltype(tile)>(a, b, out, rows, g_.filters, g_.depth(), step.jobs, step.stream);
    });
    check_launch("conv2d forward");
  }

  void backward(const Step& step, const float* x, const float*, const float* dy, float* dx) override {
    if (dx != nullptr) input_gradient(step, x, dy, dx);
    weight_gradient(step, x, dy);
  }

 private:
  void input_gradient(const Step& step, const float* x, const float* dy, float* dx) {
    const int rows = step.rows * g_.pixels(), depth = g_.filters * g_.taps();
    const Pixels<true> a{dy, taps_back_.data(), g_, rows};
    const ByTable b{step.weights + plan_.site.weights_offset, step.stride, weights_back_.data(), g_.channels,
                    g_.taps()};
    const StoreGradient out{dx, plan_.relu_before ? x : nullptr, rows, g_.pixels(), g_.channels};
    if (planes_back_) {
      PlaneImages p = gradient_images(dy);
      p.weights = arranged_back_.data();
      p.weight_stride = arranged_size(plan_.tf32, g_.filters, g_.kernel, g_.channels);
      arrange_weights({b.values, step.stride, arranged_back_.data(), p.weight_stride, g_.channels, g_.filters,
                       g_.taps(), true, plan_.tf32},
                      step.jobs, step.stream);
      launch_planes(plan_.tf32, g_.kernel, p, out, g_.channels, step.jobs, step.stream);
      check_launch("conv2d input gradient");
      return;
    }
    with_tile(plan_.tf32, rows, g_.channels, [&](auto tile) {
      launch_product<decltype(tile)>(a, b, out, rows, g_.channels, depth, step.jobs, step.stream);
    });
    check_launch("conv2d input gradient");
  }

  void weight_gradient(const Step& step, const float* x, const float* dy) {
    const StepWeights out{step.weights + plan_.site.weights_offset, step.stride, g_.depth(), g_.filters,
                          step.client_lr};
    if (stretch_rows_ > 0) {
      const GradientImages p{.x = x,
                             .dy = dy,
                             .images = step.rows,
                             .channels = g_.channels,
                             .height = g_.height,
                             .width = g_.width,
                             .filters = g_.filters,
                             .out_height = g_.out_height,
                             .out_width = g_.out_width,
                             .stride = g_.stride,
                             .rows = stretch_rows_,
                             .splits = gradient_splits(g_.channels, g_.filters, step.rows),
                             .parts = parts_.data()};
      launch_planes_gradient(g_.kernel, p, step.jobs, step.stream);
      check_launch("conv2d weight gradient");
      step_by_tap_parts(parts_.data(), p.splits, g_.taps(), out, step.jobs, step.stream);
      return;
    }
    const int rows = g_.depth() + 1, depth = step.rows * g_.out_pixels();
    const Taps a{x,
                 static_cast<size_t>(step.rows) * g_.channels * g_.pixels(),
                 taps_.data(),
                 pixels_.data(),
                 one_.data(),
                 rows};
    const ByTable b{dy, static_cast<size_t>(step.rows) * g_.filters * g_.out_pixels(), gradients_.data(),
                    g_.filters, g_.out_pixels()};
    const Split split = gradient_split();
    with_tile(plan_.tf32, rows, g_.filters, [&](auto tile) {
      using Tile = decltype(tile);
      if (split.count == 1) {
        launch_product<Tile>(a, b, out, rows, g_.filters, depth, step.jobs, step.stream);
        return;
      }
      launch_product<Tile>(a, b, StorePart{parts_.data(), g_.depth(), g_.filters, split.count}, rows,
                           g_.filters, depth, step.jobs, step.stream, split);
      step_by_parts(parts_.data(), split.count, out, step.jobs, step.stream);
    });
    check_launch("conv2d weight gradient");
  }

  Split gradient_split() const {
    constexpr int kWantedTiles = 12;
    Split split{};
    with_tile(plan_.tf32, g_.depth() + 1, g_.filters, [&](auto tile) {
      using Tile = decltype(tile);
      split = split_depth(g_.depth() + 1, g_.filters, plan_.rows * g_.out_pixels(), Tile::kM, Tile::kN,
                          kWantedTiles);
    });
    return split;
  }

  // What planes_kernel reads, but for the weights.
  PlaneImages images(const float* x) const {
    return {.values = x,
            .weights = nullptr,
            .weight_stride = 0,
            .images = plan_.rows,
            .channels = g_.channels,
            .height = g_.height,
            .width = g_.width,
            .out_width = g_.out_width,
            .out_pixels = g_.out_pixels(),
            .stride = g_.stride};
  }
  PlaneImages gradient_images(const float* dy) const {
    return {.values = dy,
            .weights = nullptr,
            .weight_stride = 0,
            .images = plan_.rows,
            .channels = g_.filters,
            .height = g_.out_height,
            .width = g_.out_width,
            .out_width = g_.width,
            .out_pixels = g_.pixels(),
            .stride = 1};
  }

  // Padded to whole tiles with taps that no pixel meets.
  void make_tables() {
    constexpr int kTile = 256;
    const int2 never = make_int2(0, static_cast<int>(kNever));
    std::vector<int2> taps(pieces(g_.depth() + 1, kTile) * kTile, never);
    std::vector<int2> taps_back(pieces(g_.filters * g_.taps(), kTile) * kTile, never);
    std::vector<int> weights_back(taps_back.size(), 0);
    for (int tap = 0; tap < g_.taps(); ++tap) {
      const int ky = tap / g_.kernel, kx = tap % g_.kernel;
      const auto bits = static_cast<int>(1u << ky | 1u << (kx + 16));
      for (int c = 0; c < g_.channels; ++c)
        taps[c * g_.taps() + tap] = make_int2(c * g_.pixels() + ky * g_.width + kx, bits);
      for (int f = 0; f < g_.filters; ++f) {
        const int k = f * g_.taps() + tap;
        taps_back[k] = make_int2(f * g_.out_pixels() - ky / g_.stride * g_.out_width - kx / g_.stride, bits);
        weights_back[k] = f * g_.depth() + tap;
      }
    }
    std::vector<int2> pixels;
    std::vector<int> gradients;
    for (int image = 0; image < plan_.rows; ++image) {
      for (int pixel = 0; pixel < g_.out_pixels(); ++pixel) {
        int2 place = window(g_, pixel);
        place.x += image * g_.channels * g_.pixels();
        pixels.push_back(place);
        gradients.push_back(image * g_.filters * g_.out_pixels() + pixel);
      }
    }
    taps_ = uploaded(taps);
    taps_back_ = uploaded(taps_back);
    weights_back_ = uploaded(weights_back);
    pixels_ = uploaded(pixels);
    gradients_ = uploaded(gradients);
    one_ = uploaded(std::vector<float>{1.0f});
  }

  LayerPlan plan_;
  Geometry g_;
  bool planes_ = false, planes_back_ = false;  // whether planes_kernel can do it
  int stretch_rows_ = 0;                       // of planes_gradient_kernel; 0: it cannot
  Buffer<float> arranged_, arranged_back_;
  Buffer<int2> taps_, taps_back_, pixels_;
  Buffer<int> weights_back_, gradients_;
  Buffer<float> one_, parts_;
};

}  // namespace

std::unique_ptr<Layer> make_conv2d(const LayerPlan& plan) {
  return plan.pool > 0 ? make_grey_conv(plan) : std::make_unique<Conv2d>(plan);
}

}  // namespace subfleet::cuda
