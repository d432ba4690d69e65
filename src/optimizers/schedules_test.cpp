#include <gtest/gtest.h>

#include <cmath>

#include "subfleet/error.h"
#include "subfleet/schedule.h"

namespace subfleet {
namespace {

constexpr uint32_t kHorizon = 101;

// Laws of every schedule: all of the rate after the warm-up, never more, and the final share at the end.
TEST(Schedules, FallFromOneToTheFinalShare) {
  for (const std::string& name : schedule_names()) {
    const ScheduleOptions options{.schedule = name, .warmup = 0, .final = 0.2};
    EXPECT_EQ(share_of_rate(options, 1, kHorizon), 1) << name;
    double before = 1;
    for (uint32_t round = 2; round <= kHorizon; ++round) {
      const double share = share_of_rate(options, round, kHorizon);
      EXPECT_LE(share, before) << name << " " << round;
      EXPECT_GE(share, 0.2 - 1e-12) << name << " " << round;
      before = share;
    }
    EXPECT_NEAR(before, is_constant(options) ? 1 : 0.2, 1e-12) << name;
    EXPECT_EQ(share_of_rate(options, 10 * kHorizon, kHorizon), before) << name << " after the horizon";
  }
}

TEST(Schedules, WarmUpInEqualSteps) {
  for (const std::string& name : schedule_names()) {
    const ScheduleOptions options{.schedule = name, .warmup = 4, .final = 0.1};
    for (uint32_t round = 1; round <= 5; ++round)
      EXPECT_DOUBLE_EQ(share_of_rate(options, round, kHorizon), round / 5.0) << name;
    EXPECT_FALSE(is_constant(options));
  }
}

TEST(Schedules, ByHand) {
  const auto share = [](const char* name, uint32_t round, double final) {
    return share_of_rate({.schedule = name, .final = final}, round, kHorizon);
  };
  EXPECT_NEAR(share("cosine", 51, 0.01), 0.505, 1e-12);  // half way
  EXPECT_NEAR(share("cosine", 26, 0.0001), 0.0001 + 0.9999 * (1 + std::sqrt(0.5)) / 2, 1e-12);
  EXPECT_NEAR(share("linear", 76, 0.2), 1 - 0.8 * 0.75, 1e-12);
  EXPECT_EQ(share("step", 50, 0.01), 1);
  EXPECT_NEAR(share("step", 51, 0.01), 0.1, 1e-12);
  EXPECT_NEAR(share("step", 76, 0.01), 0.01, 1e-12);
  EXPECT_NEAR(share("inverse-sqrt", 16, 0.01), 0.25, 1e-12);
  EXPECT_NEAR(share_of_rate({.schedule = "inverse-sqrt", .warmup = 3}, 16, kHorizon), 0.5, 1e-12);
}

// A single round has all of its rate.
TEST(Schedules, ARunOfOneRound) {
  for (const std::string& name : schedule_names())
    EXPECT_EQ(share_of_rate({.schedule = name}, 1, 1), 1) << name;
}

TEST(Schedules, AnUnknownOneNamesTheNearest) {
  try {
    share_of_rate({.schedule = "cosin"}, 1, 10);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("cosine"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace subfleet
