#include <algorithm>
#include <string>
#include <vector>

#include "nn/cuda/conv2d_operands.cuh"
#include "nn/cuda/layer.h"
#include "nn/cuda/planes.cuh"
#include "nn/cuda/planes_gradient.cuh"
#include "nn/cuda/step_weights.cuh"
#include "nn/cuda/tiles.cuh"
#include "subfleet/error.h"

// Most convolutions read planes (planes.cuh, planes_gradient.cuh). If planes do not fit, and for the gradient
// of the weights in f32, a convolution is a product of operands that are picked out of the images
// (conv2d_operands.cuh).
namespace subfleet::cuda {
namespace {

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
                          scale(),
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
  float scale() const { return plan_.site.spec.output_scale; }

  void input_gradient(const Step& step, const float* x, const float* dy, float* dx) {
    const int rows = step.rows * g_.pixels(), depth = g_.filters * g_.taps();
    const Pixels<true> a{dy, taps_back_.data(), g_, rows};
    const ByTable b{step.weights + plan_.site.weights_offset, step.stride, weights_back_.data(), g_.channels,
                    g_.taps()};
    const StoreGradient out{dx, plan_.relu_before ? x : nullptr, rows, g_.pixels(), g_.channels, scale()};
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
                          scale() * step.client_lr};
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
    constexpr int kWantedTiles = 40;
    Split split{};
    with_tile(plan_.tf32, g_.depth() + 1, g_.filters, [&](auto tile) {
      using Tile = decltype(tile);
      split = split_depth(g_.depth() + 1, g_.filters, plan_.rows * g_.out_pixels(), Tile::kM, Tile::kN,
                          kWantedTiles);
    });
    return split;
  }

  // What planes_kernel reads, without the weights: forward, and for the input's gradient, whose input is the
  // output's gradient and whose taps are turned round.
  PlaneImages images(const float* x) const {
    return {x,        nullptr, 0, plan_.rows, g_.channels, g_.height, g_.width, g_.out_width, g_.out_pixels(),
            g_.stride};
  }
  PlaneImages gradient_images(const float* dy) const {
    return {dy, nullptr, 0, plan_.rows, g_.filters, g_.out_height, g_.out_width, g_.width, g_.pixels(), 1};
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
