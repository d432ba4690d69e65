#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/host_device.h"
#include "wire/scale.h"

// What the codec int8 does, as every device computes it. A block's scale is largest / 127, where `largest` is
// its largest magnitude. Each value travels as the integer nearest to value / scale.
namespace subfleet {

constexpr size_t kInt8Block = 1024;  // values; the last block has the rest

// The largest of these integers, in any order, is a block's largest magnitude: NaN is above all others.
SUBFLEET_HOST_DEVICE constexpr uint32_t magnitude_bits(float value) {
  return std::bit_cast<uint32_t>(value) & 0x7FFFFFFF;
}

// A block whose largest magnitude is below this is sent as zeros, so that 127 / largest is finite.
constexpr float kInt8Smallest = 0x1p-100f;

SUBFLEET_HOST_DEVICE constexpr float int8_scale(float largest) {
  return sent_scale(largest < kInt8Smallest ? 0.0f : largest / 127.0f);
}

// A block's values are multiplied by this before they are rounded.
SUBFLEET_HOST_DEVICE constexpr float int8_per_value(float largest) {
  return largest >= kInt8Smallest ? 127.0f / largest : 0.0f;
}

// Rounds to nearest, ties to even: the sum has no room for a fraction. NaN gives some number; a block that
// has one cannot be sent anyway.
SUBFLEET_HOST_DEVICE constexpr int32_t round_to_int(float value) {
  constexpr float kNoFraction = 0x1.8p23f;
  return std::bit_cast<int32_t>(value + kNoFraction) - std::bit_cast<int32_t>(kNoFraction);
}

SUBFLEET_HOST_DEVICE constexpr int32_t to_int8(float value, float per_value) {
  return round_to_int(value * per_value);
}

SUBFLEET_HOST_DEVICE constexpr float from_int8(int32_t number, float scale) {
  return static_cast<float>(number) * scale;
}

}  // namespace subfleet
