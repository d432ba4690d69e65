#pragma once

#include <limits>

#include "base/host_device.h"

// The scale of a block of values, as the codecs int8 and rot1 to rot8 send it.
namespace subfleet {

// Largest valid scale: whatever is decoded with it is finite.
constexpr float kLargestScale = 0x1p100f;
SUBFLEET_HOST_DEVICE constexpr bool is_scale(float scale) { return scale >= 0 && scale <= kLargestScale; }

// NaN if the scale is invalid: decoders refuse it, and in a simulation the whole block becomes NaN.
SUBFLEET_HOST_DEVICE constexpr float sent_scale(float scale) {
  return is_scale(scale) ? scale : std::numeric_limits<float>::quiet_NaN();
}

}  // namespace subfleet
