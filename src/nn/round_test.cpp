#include "subfleet/round.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace subfleet {
namespace {

TEST(JobResult, AResultThatCannotBeTrueIsAFault) {
  const JobResult good{.outcome = JobOutcome::kTrained, .examples = 10, .loss = 1, .accuracy = 0.5};
  EXPECT_EQ(fault_in(good, 35), std::nullopt);
  const auto changed = [&](auto change) {
    JobResult result = good;
    change(result);
    return fault_in(result, 35);
  };
  EXPECT_TRUE(changed([](JobResult& r) { r.accuracy = std::nan(""); }));
  EXPECT_TRUE(changed([](JobResult& r) { r.accuracy = 1.5; }));
  EXPECT_TRUE(changed([](JobResult& r) { r.loss = std::numeric_limits<double>::infinity(); }));
  EXPECT_TRUE(changed([](JobResult& r) { r.examples = 1u << 17; }));
  EXPECT_FALSE(changed([](JobResult& r) { r.examples = (1u << 21) / 36; }));
}

}  // namespace
}  // namespace subfleet
