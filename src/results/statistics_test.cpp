#include "subfleet/results/statistics.h"

#include <gtest/gtest.h>

#include <array>

namespace subfleet {
namespace {

TEST(Estimate, IsTheMeanAndStudentsInterval) {
  EXPECT_FALSE(estimate({}));
  const std::array one{0.5};
  EXPECT_EQ(estimate(one)->mean, 0.5);
  EXPECT_FALSE(estimate(one)->interval);
  // Variance 2.5, standard error sqrt(2.5 / 5) = 0.70711, times 2.7764.
  const std::array five{1.0, 2.0, 3.0, 4.0, 5.0};
  EXPECT_EQ(estimate(five)->mean, 3);
  EXPECT_NEAR(*estimate(five)->interval, 1.96323, 1e-4);
  EXPECT_EQ(estimate(five)->count, 5u);
}

TEST(ShareInterval, IsWilsons) {
  EXPECT_NEAR(share_interval(0, 10).low, 0, 1e-12);
  EXPECT_NEAR(share_interval(0, 10).high, 0.2775, 1e-4);
  EXPECT_NEAR(share_interval(0.8, 10).low, 0.4902, 1e-4);
  EXPECT_NEAR(share_interval(0.8, 10).high, 0.9433, 1e-4);
}

TEST(FisherExactP, IsThatOfTheTables) {
  EXPECT_NEAR(fisher_exact_p(0, 10, 5, 10), 0.0325, 1e-4);
  EXPECT_NEAR(fisher_exact_p(5, 10, 0, 10), 0.0325, 1e-4);
  EXPECT_NEAR(fisher_exact_p(8, 10, 1, 10), 0.0055, 1e-4);
  EXPECT_NEAR(fisher_exact_p(10, 10, 8, 10), 0.4737, 1e-4);
  EXPECT_NEAR(fisher_exact_p(10, 10, 10, 10), 1, 1e-9);
  EXPECT_NEAR(fisher_exact_p(3, 10, 3, 10), 1, 1e-9);
  EXPECT_NEAR(fisher_exact_p(3, 3, 5, 10), 0.2308, 1e-4);
}

TEST(StudentT, HasThePublishedQuantiles) {
  EXPECT_NEAR(student_t(1), 12.7062, 1e-4);
  EXPECT_NEAR(student_t(20), 2.0860, 1e-4);
  EXPECT_NEAR(student_t(21), 2.0796, 1e-4);
  EXPECT_NEAR(student_t(30), 2.0423, 1e-4);
  EXPECT_NEAR(student_t(120), 1.9799, 1e-4);
  for (size_t degrees = 2; degrees < 200; ++degrees) EXPECT_LT(student_t(degrees), student_t(degrees - 1));
}

}  // namespace
}  // namespace subfleet
