#include "nn/softmax_cross_entropy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "subfleet/random.h"

namespace subfleet {
namespace {

TEST(SoftmaxCrossEntropy, GradientRowsSumToZero) {
  constexpr size_t kBatch = 5, kClasses = 62;
  Random random({.seed = 1});
  std::vector<double> logits(kBatch * kClasses), gradient(kBatch * kClasses);
  for (double& logit : logits) logit = 3 * random.normal();
  softmax_cross_entropy(logits, std::vector<int32_t>{0, 61, 7, 7, 30}, gradient);
  for (size_t row = 0; row < kBatch; ++row) {
    double sum = 0, size = 0;
    for (size_t i = 0; i < kClasses; ++i) {
      sum += gradient[row * kClasses + i];
      size += std::abs(gradient[row * kClasses + i]);
    }
    EXPECT_NEAR(sum, 0, 1e-15);
    EXPECT_GT(size, 0.1);
  }
}

TEST(SoftmaxCrossEntropy, EqualLogitsCostTheLogOfTheClasses) {
  const std::vector<float> logits(2 * 8, 1.5f);
  const Score score = softmax_cross_entropy(logits, std::vector<int32_t>{3, 0}, {});
  EXPECT_NEAR(score.loss, 2 * std::log(8.0), 1e-12);
  EXPECT_EQ(score.correct, 1u);  // the first of equal logits is the answer
}

TEST(SoftmaxCrossEntropy, HugeLogitsAreExact) {
  const std::vector<float> logits{1e30f, -1e30f, 0, 3e4f, 1e4f, -3e4f};
  std::vector<float> gradient(6);
  const Score score = softmax_cross_entropy(logits, std::vector<int32_t>{0, 1}, gradient);
  EXPECT_DOUBLE_EQ(score.loss, 2e4);
  EXPECT_EQ(score.correct, 1u);
  EXPECT_EQ(gradient, (std::vector<float>{0, 0, 0, 0.5f, -0.5f, 0}));
}

TEST(SoftmaxCrossEntropy, LogitsThatAreNotFiniteAreNeverRight) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinite = std::numeric_limits<float>::infinity();
  std::vector<float> gradient(3);
  for (const std::vector<float>& logits :
       {std::vector{nan, nan, nan}, {1.0f, nan, 0.0f}, {0.0f, infinite, -infinite}}) {
    const Score score = softmax_cross_entropy(logits, std::vector<int32_t>{0}, gradient);
    EXPECT_FALSE(std::isfinite(score.loss));
    EXPECT_EQ(score.correct, 0u);
  }
}

}  // namespace
}  // namespace subfleet
