#include "subfleet/sweep/results.h"

#include <gtest/gtest.h>

#include <limits>

#include "tested_log.h"

namespace subfleet {
namespace {

SweepPlan plan_of(size_t runs, std::vector<uint64_t> seeds) {
  SweepPlan plan;
  plan.seeds = std::move(seeds);
  plan.baseline = 0;
  plan.target = 0.9;
  plan.last_rounds = 2;
  for (size_t i = 0; i < runs; ++i) plan.runs.push_back({std::string(1, static_cast<char>('a' + i)), "", {}});
  return plan;
}

TEST(SweepResults, AreTheHandComputedOnes) {
  // At the end: 0.6 and 0.8; the other run 0.7 and 0.8, with half of the bytes.
  const std::vector<std::vector<RoundLog>> logs{
      {log_of({0.6, 0.6, 0.6, 0.6, 0.5, 0.7}), log_of({0.8, 0.8, 0.8, 0.8, 0.8, 0.8})},
      {log_of({0.5, 0.5, 0.5, 0.5, 0.7, 0.7}, 5), log_of({0.1, 0.1, 0.1, 0.1, 0.8, 0.8}, 5)}};
  const SweepResults results = sweep_results(plan_of(2, {1, 2}), logs);
  const RunResult &base = results.runs[0], &other = results.runs[1];
  EXPECT_NEAR(base.accuracy->mean, 0.7, 1e-12);
  EXPECT_NEAR(*base.accuracy->interval, 12.7062 * 0.1, 1e-6);  // deviation 0.1414, over sqrt(2)
  EXPECT_NEAR(other.difference->mean, 0.05, 1e-12);
  EXPECT_NEAR(*other.difference->interval, 12.7062 * 0.05, 1e-6) << "of 0.1 and 0: paired by seed";
  EXPECT_EQ(base.bytes_per_round, 20);
  EXPECT_EQ(other.bytes_per_round, 10);
  EXPECT_NEAR(*other.times_fewer, 2, 1e-12);
  EXPECT_NEAR(*other.seeds[0].target, 0.54, 1e-12);
  EXPECT_NEAR(*other.seeds[1].target, 0.72, 1e-12);
  EXPECT_EQ(base.seeds[0].bytes_to_target, 100u);
  EXPECT_EQ(base.reached, 2u);
  EXPECT_EQ(other.seeds[0].bytes_to_target, 50u);  // the mean of 0.5 0.5 0.5 0.5 0.7 is 0.54
  EXPECT_FALSE(other.seeds[1].bytes_to_target);
  EXPECT_EQ(other.reached, 1u);
  EXPECT_EQ(other.targets, 2u);
  EXPECT_NEAR(other.bytes_to_target->mean, 50, 1e-12);
  EXPECT_NEAR(*other.target_times_fewer, 2, 1e-12) << "over the seeds where both reached it";
}

TEST(SweepResults, WithoutTheBaselinesSeedThereIsNothingToCompare) {
  const SweepResults results = sweep_results(
      plan_of(2, {1, 2}), {{log_of({0.6, 0.6}), std::nullopt}, {std::nullopt, log_of({0.5, 0.5})}});
  EXPECT_EQ(results.runs[0].seeds.size(), 1u);
  EXPECT_FALSE(results.runs[1].difference);
  EXPECT_EQ(results.runs[1].targets, 0u);
  EXPECT_NEAR(results.runs[1].accuracy->mean, 0.5, 1e-12);
}

TEST(SweepResults, ADivergedSeedHasNoAccuracyAtTheEnd) {
  auto diverged = log_of({0.6, 0.6});
  diverged.back().train_loss = std::numeric_limits<double>::quiet_NaN();
  const SweepResults results = sweep_results(plan_of(1, {1, 2}), {{log_of({0.4, 0.4}), diverged}});
  EXPECT_TRUE(results.runs[0].seeds[1].diverged);
  EXPECT_EQ(results.runs[0].accuracy->count, 1u);
  EXPECT_NEAR(results.runs[0].accuracy->mean, 0.4, 1e-12);
  EXPECT_FALSE(all_diverged(results));
  EXPECT_TRUE(
      all_diverged(sweep_results(plan_of(2, {1, 2}), {{diverged, diverged}, {std::nullopt, diverged}})));
  EXPECT_FALSE(all_diverged(sweep_results(plan_of(1, {1}), {{std::nullopt}}))) << "none is over";
}

TEST(SweepResults, TheEndIsTheLastQuarterUnlessTheFileSays) {
  SweepPlan plan = plan_of(1, {1});
  const std::vector<std::vector<RoundLog>> logs{{log_of({0, 0, 0, 0, 0, 0.2, 0.4, 0.6})}};
  EXPECT_NEAR(sweep_results(plan, logs).runs[0].accuracy->mean, 0.5, 1e-12);
  plan.last_rounds = 3;
  EXPECT_NEAR(sweep_results(plan, logs).runs[0].accuracy->mean, 0.4, 1e-12);
  plan.last_rounds = 100;
  EXPECT_NEAR(sweep_results(plan, logs).runs[0].accuracy->mean, 0.15, 1e-12) << "all there are";
  plan.last_rounds.reset();
  EXPECT_NEAR(sweep_results(plan, logs).runs[0].accuracy->mean, 0.5, 1e-12);
}

}  // namespace
}  // namespace subfleet
