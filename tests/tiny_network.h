#pragma once

#include "subfleet/model.h"

namespace subfleet {

// A network for 28x28 pictures with what networks of today have: a shortcut, normalised groups of channels
// and a depthwise convolution.
inline constexpr const char* kTinyNetwork = R"(
input = [1, 28, 28]
layer = [
  { type = "maxpool", kernel = 5, stride = 4, padding = 2 },
  { type = "conv2d", units = 6, kernel = 3, bias = false },
  { type = "groupnorm", groups = 2 },
  { type = "relu", name = "stem" },
  { type = "conv2d", units = 8, kernel = 1, bias = false },
  { type = "groupnorm", groups = 2 },
  { type = "silu" },
  { type = "conv2d", units = 8, kernel = 3, groups = 8 },
  { type = "conv2d", name = "branch", units = 6, kernel = 1 },
  { type = "add", inputs = ["stem", "branch"] },
  { type = "avgpool", kernel = 2 },
  { type = "flatten" },
  { type = "dense", units = 32 },
  { type = "gelu" },
  { type = "dense", units = 62 },
]
)";

inline ModelSpec tiny_network() { return parse_model(kTinyNetwork, "tiny-network"); }

}  // namespace subfleet
