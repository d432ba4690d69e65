#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "model/layers.h"

namespace subfleet {

// How a square window moves over an image, as in PyTorch: what does not fill the last window is left out.
struct Window {
  size_t kernel = 1, stride = 1, padding = 0;

  size_t outputs(size_t side) const { return (side + 2 * padding - kernel) / stride + 1; }

  // Why it cannot move over that image, and what would be right; empty if it can.
  std::string misfit(const Shape& input) const {
    if (padding >= kernel) {
      return fmt::format("padding {} leaves windows of {} without a value of the image; at most {}", padding,
                         kernel, kernel - 1);
    }
    const size_t most = std::min(input.height, input.width) + 2 * padding;
    if (kernel <= most) return {};
    return fmt::format("a window of {0}x{0} does not fit into {1}x{2}; kernel can be at most {3}", kernel,
                       input.height, input.width, most);
  }
};

// Of a conv2d layer.
inline Window convolution_window(const LayerSpec& spec) {
  return {.kernel = spec.kernel, .stride = spec.stride, .padding = spec.padding.value_or(spec.kernel / 2)};
}

// Of a pool; kernel 0 is one window over all positions, which need not be a square.
inline Window pool_window(const LayerSpec& spec) {
  return {.kernel = spec.kernel,
          .stride = spec.pool_stride.value_or(spec.kernel),
          .padding = spec.padding.value_or(0)};
}

inline constexpr LayerField kPoolStride{"stride", &LayerSpec::pool_stride},
    kPadding{"padding", &LayerSpec::padding};

inline std::string pool_misfit(const LayerSpec& spec, const Shape& input) {
  const Window window = pool_window(spec);
  if (window.stride == 0) return "stride is 0; it must be 1 or more";
  return window.misfit(input);
}

inline Shape pool_output(const LayerSpec& spec, const Shape& input) {
  const Window window = pool_window(spec);
  return {input.channels, window.outputs(input.height), window.outputs(input.width)};
}

}  // namespace subfleet
