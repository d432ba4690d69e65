#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "model/window.h"

namespace subfleet::cpu {

// A pool's window as oneDNN wants it.
struct PoolGeometry {
  dnnl::memory::dims window, stride, pad, pad_behind;
};

inline PoolGeometry pool_geometry(const LayerSite& site) {
  const auto size = [](size_t count) { return static_cast<dnnl_dim_t>(count); };
  if (site.spec.kernel == 0) {  // one window over everything
    const dnnl::memory::dims all{size(site.input.height), size(site.input.width)};
    return {.window = all, .stride = all, .pad = {0, 0}, .pad_behind = {0, 0}};
  }
  const Window window = pool_window(site.spec);
  const dnnl_dim_t kernel = size(window.kernel), stride = size(window.stride), pad = size(window.padding);
  // What the windows meet behind the last row and column; below 0, what they leave out.
  const auto behind = [&](size_t input, size_t output) {
    return (size(output) - 1) * stride + kernel - pad - size(input);
  };
  return {.window = {kernel, kernel},
          .stride = {stride, stride},
          .pad = {pad, pad},
          .pad_behind = {behind(site.input.height, site.output.height),
                         behind(site.input.width, site.output.width)}};
}

}  // namespace subfleet::cpu
