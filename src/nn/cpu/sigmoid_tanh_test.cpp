#include "nn/cpu/sigmoid_tanh.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace subfleet::cpu {
namespace {

TEST(SigmoidTanh, IsWithinTwoInTenMillionOfTheTruth) {
  for (float x = -120; x <= 120; x += 0.0037f) {
    ASSERT_NEAR(fast_sigmoid(x), 1 / (1 + std::exp(-double{x})), 2e-7) << x;
    ASSERT_NEAR(fast_tanh(x), std::tanh(double{x}), 2e-7) << x;
  }
}

TEST(SigmoidTanh, TheEndsAreExactAndNaNStays) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(fast_sigmoid(0), 0.5f);
  EXPECT_EQ(fast_tanh(0), 0.0f);
  EXPECT_EQ(fast_sigmoid(kInfinity), 1.0f);
  EXPECT_NEAR(fast_sigmoid(-kInfinity), 0.0f, 1e-30);
  EXPECT_EQ(fast_tanh(kInfinity), 1.0f);
  EXPECT_EQ(fast_tanh(-kInfinity), -1.0f);
  EXPECT_TRUE(std::isnan(fast_sigmoid(std::nanf(""))));
  EXPECT_TRUE(std::isnan(fast_tanh(std::nanf(""))));
}

}  // namespace
}  // namespace subfleet::cpu
