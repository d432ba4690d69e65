#include "subfleet/sweep/sweep_folder.h"

#include <gtest/gtest.h>

#include "subfleet/base/file.h"
#include "subfleet/error.h"
#include "subfleet/store/run_writer.h"
#include "subfleet/store/session.h"
#include "subfleet/sweep/plan.h"
#include "temporary_folder.h"
#include "tiny_run.h"

namespace subfleet {
namespace {

// One run with the seed 3, of two rounds.
SweepPlan plan_of(const Config& config = tiny_config()) {
  SweepPlan plan{
      .title = "One", .seeds = {3}, .baseline = std::nullopt, .last_rounds = std::nullopt, .runs = {}};
  SweepRun& run = plan.runs.emplace_back();
  run.name = run.slug = "gold";
  run.config = config;
  run.config.run.rounds = 2;
  return plan;
}

// Trains the plan's run for so many rounds, and finishes it or not.
void train_run(const std::filesystem::path& folder, const SweepPlan& plan, uint32_t rounds, bool finish) {
  ThreadPool pool(1);
  LocalFleet fleet = tiny_fleet(pool);
  Run run(plan.config(0, 3), fleet);
  RunWriter writer = RunWriter::begin(folder / plan.folder(0, 3), run,
                                      provenance_now(run.config(), fleet, {.device = "reference"}));
  for (uint32_t round = 0; round < rounds; ++round) writer.round_done(run, run.step());
  if (finish) writer.finish(run);
}

std::string refusal(const std::filesystem::path& folder, const SweepPlan& plan) {
  try {
    check_sweep_folder(folder, plan);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(SweepFolder, IsMadeAndLocked) {
  const TemporaryFolder folder;
  const SweepFolder sweep(folder / "s");
  EXPECT_TRUE(std::filesystem::is_directory(folder / "s"));
  EXPECT_THROW(SweepFolder(folder / "s"), Error);
}

// An extended sweep with another seed compares runs of one schedule.
TEST(SweepFolder, SeedsThatFollowHaveTheHorizonOfThoseThatHaveBegun) {
  const TemporaryFolder folder;
  SweepPlan plan = plan_of();
  plan.runs[0].config.schedules.server.schedule = "cosine";
  train_run(folder.path(), plan, 1, false);
  plan.runs[0].config.run.rounds = 9;
  plan.seeds = {3, 4};
  EXPECT_EQ(plan.config(0, 4).schedules.horizon, 0u);
  keep_horizons(folder.path(), plan);
  EXPECT_EQ(plan.config(0, 4).schedules.horizon, 2u);
  EXPECT_EQ(refusal(folder.path(), plan), "");
}

TEST(SweepFolder, TakesOnlyRunsOfItsOwnSettings) {
  const TemporaryFolder folder;
  const SweepPlan plan = plan_of();
  EXPECT_EQ(refusal(folder.path(), plan), "");
  train_run(folder.path(), plan, 1, false);
  EXPECT_EQ(refusal(folder.path(), plan), "");
  Config other = tiny_config();
  other.code.keep = 0.25;
  EXPECT_NE(refusal(folder.path(), plan_of(other)).find("another code.keep"), std::string::npos);
  other = tiny_config();
  other.run.eval_every = 7;
  EXPECT_NE(refusal(folder.path(), plan_of(other)).find("another run.eval_every"), std::string::npos);
  SweepPlan longer = plan_of(), shorter = plan_of();
  longer.runs[0].config.run.rounds = 5;
  shorter.runs[0].config.run.rounds = 1;
  EXPECT_EQ(refusal(folder.path(), longer), "");
  EXPECT_NE(refusal(folder.path(), shorter).find("another run.rounds"), std::string::npos);
}

TEST(SweepFolder, IsNotARunsFolder) {
  const TemporaryFolder folder;
  const SweepPlan plan = plan_of();
  train_run(folder.path(), plan, 1, false);
  EXPECT_NE(refusal(folder / plan.folder(0, 3), plan).find("holds a run, not a sweep"), std::string::npos);
}

TEST(SweepFolder, KnowsWhichRunsAreOver) {
  const TemporaryFolder folder;
  const SweepPlan plan = plan_of();
  EXPECT_FALSE(finished_logs(folder.path(), plan)[0][0]);
  train_run(folder / "half", plan, 1, true);
  EXPECT_FALSE(finished_logs(folder / "half", plan)[0][0]);
  train_run(folder / "whole", plan, 2, true);
  const auto logs = finished_logs(folder / "whole", plan);
  ASSERT_TRUE(logs[0][0]);
  EXPECT_EQ(logs[0][0]->size(), 2u);
  const auto trainers = trainers_of(folder / "whole", plan);
  ASSERT_EQ(trainers.size(), 1u);
  EXPECT_NE(trainers[0].find(" on reference"), std::string::npos) << trainers[0];
  EXPECT_TRUE(trainers_of(folder.path(), plan).empty());
}

}  // namespace
}  // namespace subfleet
