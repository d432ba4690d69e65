#include <gtest/gtest.h>

#include <algorithm>

#include "forwarding_fleet.h"
#include "subfleet/error.h"
#include "subfleet/run.h"
#include "tiny_run.h"

namespace subfleet {
namespace {

TEST(RunFailures, WhenEveryClientDivergesTheRunSaysSo) {
  ThreadPool pool(1);
  LocalFleet fleet = tiny_fleet(pool);
  Config config = tiny_config();
  config.round.client_lr = 1e6f;
  subfleet::Run run(config, fleet);
  EXPECT_THROW(run.step(), Error);
}

// A fleet some of whose clients fail: the rest of it is the local one.
class FaultyFleet final : public ForwardingFleet {
 public:
  FaultyFleet(Fleet& fleet, std::vector<JobOutcome> outcomes)
      : ForwardingFleet(fleet), outcomes_(std::move(outcomes)) {}

  std::vector<std::vector<JobResult>> train_batch(std::span<const Cohort> cohorts) override {
    Cohort answering = cohorts[0];
    std::vector<Job> jobs;
    for (size_t i = 0; i < outcomes_.size(); ++i) {
      if (outcomes_[i] == JobOutcome::kTrained) jobs.push_back(answering.jobs[i]);
    }
    answering.jobs = jobs;
    const std::vector<JobResult> trained = ForwardingFleet::train_batch({&answering, 1}).front();
    std::vector<JobResult> all;
    size_t next = 0;
    for (const JobOutcome outcome : outcomes_) {
      all.push_back(outcome == JobOutcome::kTrained ? trained[next++]
                                                    : JobResult{.outcome = outcome, .bytes_down = 10});
    }
    return {all};
  }

 private:
  std::vector<JobOutcome> outcomes_;
};

TEST(RunFailures, ARoundGoesOnWithoutThoseWhoFail) {
  ThreadPool pool(1);
  LocalFleet all = tiny_fleet(pool);
  FaultyFleet fleet(all, {JobOutcome::kLost, JobOutcome::kTrained, JobOutcome::kLate, JobOutcome::kRejected});
  subfleet::Run run(tiny_config(), fleet);
  const RoundRecord record = run.step();
  EXPECT_EQ(run.round(), 1u);
  for (const JobOutcome outcome : kJobOutcomes)
    EXPECT_EQ(record.outcomes[outcome], outcome == JobOutcome::kDiverged ? 0u : 1u) << outcome_name(outcome);
  EXPECT_EQ(record.outcomes.left_out(), 3u);
  EXPECT_GT(record.bytes_down, record.bytes_up + 20) << "the bytes that were moved count, and no others";
  EXPECT_FALSE(std::ranges::equal(run.weights(), initial_weights(run.model(), tiny_config().run.seed)));
}

TEST(RunFailures, ARoundWithoutAnyAnswerLeavesTheWeights) {
  ThreadPool pool(1);
  LocalFleet all = tiny_fleet(pool);
  FaultyFleet fleet(all, std::vector(4, JobOutcome::kLost));
  subfleet::Run run(tiny_config(), fleet);
  EXPECT_EQ(run.step().outcomes[JobOutcome::kLost], 4u);
  EXPECT_EQ(run.round(), 1u);
  EXPECT_TRUE(std::ranges::equal(run.weights(), initial_weights(run.model(), tiny_config().run.seed)));
}

}  // namespace
}  // namespace subfleet
