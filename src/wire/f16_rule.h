#pragma once

#include <bit>
#include <cstdint>

#include "base/host_device.h"

// What the codec f16 does to one value, as every device computes it.
namespace subfleet {

// A half's bits are the lower 16 of an integer as wide as a float, which suits vector units better.

// The nearest half, ties to even. Values beyond the largest half, 65504, become that one. Infinity and NaN
// stay.
SUBFLEET_HOST_DEVICE constexpr uint32_t to_half(float value) {
  constexpr uint32_t kInfinity = 0x7F800000, kTooLarge = 0x477FF000, kSmallestNormal = 0x38800000;
  constexpr uint32_t kLastBit = 0x3F000000;  // 0.5: what is added to it keeps the bits of a subnormal half
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  const uint32_t small =
      std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + std::bit_cast<float>(kLastBit)) - kLastBit;
  const uint32_t normal = (magnitude - (112u << 23) + 0xFFF + ((magnitude >> 13) & 1)) >> 13;
  uint32_t half = magnitude < kSmallestNormal ? small : normal;
  half = magnitude >= kTooLarge ? 0x7BFF : half;
  half = magnitude >= kInfinity ? 0x7C00 : half;
  half = magnitude > kInfinity ? 0x7E00 : half;
  return half | ((bits >> 16) & 0x8000);
}

SUBFLEET_HOST_DEVICE constexpr float from_half(uint32_t half) {
  constexpr uint32_t kSmallestNormal = 113u << 23;
  const uint32_t shifted = (half & 0x7FFFu) << 13;
  const uint32_t exponent = shifted & 0x0F800000;
  const uint32_t normal = shifted + (112u << 23);
  const auto small = std::bit_cast<uint32_t>(std::bit_cast<float>(shifted + kSmallestNormal) -
                                             std::bit_cast<float>(kSmallestNormal));
  const uint32_t not_finite = shifted + (224u << 23);
  uint32_t bits = exponent == 0 ? small : normal;
  bits = exponent == 0x0F800000 ? not_finite : bits;
  return std::bit_cast<float>(bits | (half & 0x8000) << 16);
}

}  // namespace subfleet
