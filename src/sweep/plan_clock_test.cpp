#include "subfleet/sweep/plan_clock.h"

#include <gtest/gtest.h>

namespace subfleet {
namespace {

TEST(PlanClock, EveryRunHasItsOwnPaceAndUnknownOnesTheMean) {
  PlanClock clock(3);
  EXPECT_EQ(clock.done(), 1) << "nothing is expected";
  for (size_t run = 0; run < 3; ++run) clock.expect(run, 10);
  EXPECT_FALSE(clock.seconds_left());
  EXPECT_EQ(clock.done(), 0);
  for (int round = 0; round < 10; ++round) clock.rounds_done(0, 1, 2);
  EXPECT_NEAR(*clock.seconds_left(), 20 * 2, 1e-9) << "the others may be like the first";
  clock.rounds_done(1, 1, 4);
  EXPECT_NEAR(*clock.seconds_left(), 9 * 4 + 10 * 3, 1e-9);
  EXPECT_NEAR(clock.done(), 11.0 / 30, 1e-9);
}

TEST(PlanClock, KnowsWhatEarlierRunsTookAndForgetsWhatWillNotCome) {
  PlanClock clock(1);
  clock.learn(0, 100, 50);
  clock.expect(0, 40);
  EXPECT_NEAR(*clock.seconds_left(), 20, 1e-9);
  clock.give_up(0, 30);
  EXPECT_NEAR(*clock.seconds_left(), 5, 1e-9);
}

}  // namespace
}  // namespace subfleet
