#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "wire/codecs.h"
#include "wire/f16_rule.h"

namespace subfleet {
namespace {

TEST(F16, EveryHalfIsItself) {
  for (uint32_t half = 0; half < 0x10000; ++half) {
    const float value = from_half(half);
    if (std::isnan(value)) {
      EXPECT_GT(half & 0x7FFF, 0x7C00u);
      EXPECT_EQ(to_half(value) & 0x7FFF, 0x7E00u);
    } else {
      ASSERT_EQ(to_half(value), half);
    }
  }
}

// Against arithmetic: halves have 11 bits down to 2^-14, and multiples of 2^-24 below.
TEST(F16, ValuesAreRoundedToTheNearestTiesToEven) {
  Random random({.seed = 4});
  for (int i = 0; i < 100'000; ++i) {
    const double value = static_cast<float>(random.normal() * std::exp2(random.uniform(-26, 15)));
    if (std::abs(value) >= 65504) continue;
    const int exponent = std::max(std::ilogb(value), -14);
    const double unit = std::exp2(exponent - 10);
    ASSERT_EQ(from_half(to_half(static_cast<float>(value))), std::nearbyint(value / unit) * unit) << value;
  }
  EXPECT_EQ(from_half(to_half(1.0f + 0x1p-11f)), 1.0f);
  EXPECT_EQ(from_half(to_half(1.0f + 0x3p-11f)), 1.0f + 0x1p-9f);
  EXPECT_EQ(from_half(to_half(0x1p-25f)), 0.0f);
  EXPECT_EQ(from_half(to_half(0x3p-25f)), 0x1p-23f);
}

TEST(F16, WhatIsTooLargeBecomesTheLargest) {
  for (const float value : {65505.0f, 65519.99f, 65520.0f, 1e6f, std::numeric_limits<float>::max()}) {
    EXPECT_EQ(from_half(to_half(value)), 65504.0f);
    EXPECT_EQ(from_half(to_half(-value)), -65504.0f);
  }
}

}  // namespace
}  // namespace subfleet
