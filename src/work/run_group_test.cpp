#include "subfleet/work/run_group.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "group_recorder.h"
#include "subfleet/store/run_writer.h"
#include "subfleet/sweep/results.h"
#include "temporary_folder.h"
#include "tiny_glyphs.h"

namespace subfleet {
namespace {

constexpr uint32_t kRounds = 3;

// Runs with the seeds 1 and 2, of which the second is longer.
std::vector<PlannedRun> two_runs(const TemporaryFolder& folder) {
  std::vector<PlannedRun> runs;
  for (uint32_t seed = 1; seed <= 2; ++seed) {
    Config config = tiny_glyphs();
    config.run.seed = seed;
    config.run.rounds = kRounds + seed - 1;
    runs.push_back(
        {.config = config, .path = folder / std::to_string(seed), .name = "seed " + std::to_string(seed)});
  }
  return runs;
}

std::vector<float> weights_alone(const Config& config) {
  SharedFleets fleets("reference", 1);
  Run run(config, fleets.fleet(config));
  for (uint32_t i = 0; i < config.run.rounds; ++i) run.step();
  return {run.weights().begin(), run.weights().end()};
}

bool train(std::span<const PlannedRun> runs, GroupRecorder& seen, const std::function<bool()>& stop) {
  SharedFleets fleets("reference", 2);
  PlanClock clock(1);
  for (const PlannedRun& run : runs) clock.expect(0, run.config.run.rounds);
  return train_group(runs, "two", {fleets, clock, seen, stop});
}

TEST(RunGroup, HasTheBitsOfRunsAlone) {
  const TemporaryFolder folder;
  const std::vector<PlannedRun> runs = two_runs(folder);
  GroupRecorder seen;
  EXPECT_TRUE(train(runs, seen, [] { return false; }));
  for (const PlannedRun& run : runs) {
    EXPECT_EQ(RunWriter::weights(run.path, resolve_model(run.config.model)), weights_alone(run.config));
    EXPECT_EQ(RunWriter::log(run.path).size(), run.config.run.rounds);
  }
  ASSERT_EQ(seen.starts.size(), 1u);
  EXPECT_EQ(seen.starts[0].title, "two");
  EXPECT_EQ(seen.starts[0].rounds, kRounds + 1);
  EXPECT_EQ(seen.rounds.size(), kRounds + 1);
  EXPECT_EQ(seen.rounds.back().plan->done, 1);
  EXPECT_EQ(seen.ends, 1u);
}

TEST(RunGroup, GoesOnWhereItWasStopped) {
  const TemporaryFolder folder;
  const std::vector<PlannedRun> runs = two_runs(folder);
  GroupRecorder before, after;
  EXPECT_FALSE(train(runs, before, [&] { return before.rounds.size() == 2; }));
  EXPECT_EQ(before.ends, 1u);
  EXPECT_TRUE(train(runs, after, [] { return false; }));
  EXPECT_EQ(after.starts[0].rounds_done, 2u);
  EXPECT_EQ(after.rounds.size(), kRounds + 1 - 2);
  for (const PlannedRun& run : runs)
    EXPECT_EQ(RunWriter::weights(run.path, resolve_model(run.config.model)), weights_alone(run.config));
}

// The rates of a run that is extended are those it began with: its horizon stays, whatever the new plan's
// rounds.
TEST(RunGroup, AnExtendedRunKeepsItsHorizon) {
  const TemporaryFolder folder;
  std::vector<PlannedRun> runs = two_runs(folder);
  for (PlannedRun& run : runs) run.config.schedules.server.schedule = "cosine";
  GroupRecorder seen;
  EXPECT_TRUE(train(runs, seen, [] { return false; }));
  const std::vector<RoundRecord> before = RunWriter::log(runs[0].path);
  for (PlannedRun& run : runs) run.config.run.rounds += 2;
  EXPECT_TRUE(train(runs, seen, [] { return false; }));
  const std::vector<RoundRecord> after = RunWriter::log(runs[0].path);
  ASSERT_EQ(after.size(), kRounds + 2);
  EXPECT_EQ(RunWriter::config(runs[0].path).schedules.horizon, kRounds);
  for (size_t i = 0; i < after.size(); ++i)
    EXPECT_EQ(after[i].server_rate, before[std::min<size_t>(i, kRounds - 1)].server_rate) << i;
  EXPECT_LT(after.back().server_rate.value(), 0.02 * after.front().server_rate.value());
}

TEST(RunGroup, KeepsNoCheckpointOfWhatIsOverForGood) {
  const TemporaryFolder folder;
  std::vector<PlannedRun> runs = two_runs(folder);
  runs[1].for_good = true;
  GroupRecorder seen;
  EXPECT_TRUE(train(runs, seen, [] { return false; }));
  EXPECT_TRUE(RunWriter::can_go_on(runs[0].path));
  EXPECT_FALSE(RunWriter::can_go_on(runs[1].path));
  EXPECT_TRUE(RunWriter::is_finished(runs[1].path));
}

TEST(RunGroup, ARunThatDivergesEndsAlone) {
  const TemporaryFolder folder;
  std::vector<PlannedRun> runs = two_runs(folder);
  runs[0].config.round.client_lr = 1e30F;
  GroupRecorder seen;
  EXPECT_TRUE(train(runs, seen, [] { return false; }));
  ASSERT_FALSE(seen.notes.empty());
  EXPECT_TRUE(seen.notes[0].starts_with("seed 1: ")) << seen.notes[0];
  EXPECT_TRUE(is_diverged(RunWriter::log(runs[0].path).back()));
  EXPECT_FALSE(RunWriter::is_finished(runs[0].path));
  EXPECT_EQ(RunWriter::weights(runs[1].path, resolve_model(runs[1].config.model)),
            weights_alone(runs[1].config));
  EXPECT_EQ(seen.rounds.back().plan->done, 1);
}

TEST(RunGroup, TakesTheFirstAndThoseLikeIt) {
  std::vector<int> items{1, 2, 11, 21, 3, 31};
  const auto last_digit = [](int item) { return item % 10; };
  EXPECT_EQ(take_group(items, 3, last_digit), (std::vector<int>{1, 11, 21}));
  EXPECT_EQ(items, (std::vector<int>{2, 3, 31}));
}

TEST(RunGroup, IsCalledByItsPlaceAndSeeds) {
  const std::vector<uint64_t> seeds{1, 2, 3};
  EXPECT_EQ(group_title(2, 40, "gold", {seeds.data(), 1}), "3/40 gold, seed 1");
  EXPECT_EQ(group_title(2, 40, "gold", seeds), "3-5/40 gold, seeds 1, 2, 3");
}

}  // namespace
}  // namespace subfleet
