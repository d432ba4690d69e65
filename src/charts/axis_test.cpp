#include "subfleet/charts/axis.h"

#include <gtest/gtest.h>

#include <cmath>

namespace subfleet {
namespace {

bool is_nice(double step) {
  const double digit = step / std::pow(10, std::floor(std::log10(step) + 1e-9));
  return std::abs(digit - 1) < 1e-6 || std::abs(digit - 2) < 1e-6 || std::abs(digit - 5) < 1e-6;
}

TEST(Axis, LinearTicksAreNiceInsideAndEvenlySpaced) {
  for (const double low : {0.0, -3.7, 0.83}) {
    for (double span = 1e-4; span < 1e13; span *= 3.3) {
      for (const size_t most : {2U, 6U, 10U}) {
        const auto ticks = linear_ticks(low, low + span, most);
        ASSERT_LE(ticks.size(), most);
        for (size_t i = 0; i < ticks.size(); ++i) {
          EXPECT_GE(ticks[i], low - 1e-6 * span);
          EXPECT_LE(ticks[i], low + span * (1 + 1e-6));
          if (i == 0) continue;
          const double step = ticks[i] - ticks[i - 1];
          EXPECT_TRUE(is_nice(step)) << low << " + " << span << ": step " << step;
        }
        EXPECT_TRUE(ticks.size() >= 2 || most < 6) << low << " + " << span;
      }
    }
  }
}

TEST(Axis, LogTicksAreNice) {
  EXPECT_EQ(log_ticks(1, 100, 8), (std::vector<double>{1, 2, 5, 10, 20, 50, 100}));
  EXPECT_EQ(log_ticks(3, 4e6, 8).size(), 6U);  // powers of ten only
  EXPECT_LE(log_ticks(1e-30, 1e30, 8).size(), 8U);
  for (const double tick : log_ticks(1e-30, 1e30, 8))
    EXPECT_NEAR(std::log10(tick), std::round(std::log10(tick)), 1e-9);
}

TEST(Axis, PlacesTheEndsAtZeroAndOne) {
  for (const bool log : {false, true}) {
    const Axis axis = make_axis({.low = 3, .high = 4000, .log = log});
    EXPECT_DOUBLE_EQ(axis.place(3), 0);
    EXPECT_DOUBLE_EQ(axis.place(4000), 1);
  }
  EXPECT_DOUBLE_EQ(make_axis({.low = 1, .high = 100, .log = true}).place(10), 0.5);
}

TEST(Axis, AnEmptyRangeIsWidened) {
  for (const double value : {0.0, 0.85, -2.0, 1e12}) {
    const Axis axis = make_axis({.low = value, .high = value});
    EXPECT_GT(axis.high, axis.low);
    EXPECT_FALSE(axis.ticks.empty());
    EXPECT_TRUE(std::isfinite(axis.place(value)));
  }
  const Axis axis = make_axis({.low = 5, .high = 5, .log = true});
  EXPECT_TRUE(std::isfinite(axis.place(5)));
}

TEST(Axis, CountsHaveWholeTicks) {
  for (const double tick : make_axis({.low = 0, .high = 2, .unit = Unit::kCount, .most_ticks = 8}).ticks) {
    EXPECT_EQ(tick, std::round(tick));
  }
}

TEST(Axis, LabelsCarryUnits) {
  EXPECT_EQ(tick_label(0.1 + 0.2, Unit::kPercent), "30 %");
  EXPECT_EQ(tick_label(0, Unit::kBytes), "0");
  EXPECT_EQ(tick_label(1.5e9, Unit::kBytes), "1.5 GB");
  EXPECT_EQ(tick_label(1e9, Unit::kBytes), "1 GB");
  EXPECT_EQ(tick_label(200, Unit::kBytes), "200 B");
  EXPECT_EQ(tick_label(1500, Unit::kCount), "1500");
}

}  // namespace
}  // namespace subfleet
