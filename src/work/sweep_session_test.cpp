#include "subfleet/work/sweep_session.h"

#include <gtest/gtest.h>

#include "group_recorder.h"
#include "subfleet/base/file.h"
#include "subfleet/error.h"
#include "subfleet/store/run_writer.h"
#include "temporary_folder.h"
#include "tiny_glyphs.h"

namespace subfleet {
namespace {

// Two runs with two seeds each.
SweepPlan two_runs() {
  SweepPlan plan{.title = "Two", .seeds = {1, 2}, .baseline = std::nullopt, .last_rounds = 1, .runs = {}};
  for (const char* name : {"none", "gold"}) {
    SweepRun& run = plan.runs.emplace_back();
    run.name = run.slug = name;
    run.config = tiny_glyphs();
    run.config.code.family = name;
  }
  return plan;
}

bool never() { return false; }

const SweepSession::Options kOptions{.device = "reference", .threads = 1, .together = 2};

TEST(SweepSession, ReadsAFileWithoutEnsembles) {
  const TemporaryFolder folder;
  const std::string file = "seeds = [1]\n[[run]]\nname = \"a\"\n";
  write_file(folder / "s.toml", file);
  EXPECT_EQ(
      read_sweep(folder / "s.toml", [](Config& config) { config.run.rounds = 3; }).runs[0].config.run.rounds,
      3u);
  write_file(folder / "e.toml", file + "members = 2\n");
  try {
    read_sweep(folder / "e.toml", [](Config&) {});
    FAIL() << "an ensemble went through";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("run 'a': members: a sweep has no ensembles"), std::string::npos)
        << error.what();
  }
}

TEST(SweepSession, ChoosesBySeedAndNameAndKeepsDataTogether) {
  SweepPlan plan = two_runs();
  using Trials = std::vector<SweepTrial>;
  EXPECT_EQ(choose_trials(plan, {}, 0), (Trials{{0, 0}, {1, 0}, {0, 1}, {1, 1}}));
  EXPECT_EQ(choose_trials(plan, {}, 1), (Trials{{0, 0}, {1, 0}}));
  EXPECT_EQ(choose_trials(plan, {"ol"}, 0), (Trials{{1, 0}, {1, 1}}));
  EXPECT_TRUE(choose_trials(plan, {"silver"}, 0).empty());
  plan.runs[1].config.data.writers = 11;
  EXPECT_EQ(choose_trials(plan, {}, 0), (Trials{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
}

TEST(SweepSession, TrainsWhatIsLeftAndWritesTheResults) {
  const TemporaryFolder folder;
  const SweepPlan plan = two_runs();
  {
    SweepSession first(plan, folder / "s", kOptions);
    EXPECT_EQ(first.prepare(choose_trials(plan, {"none"}, 0)), 2u);
    GroupRecorder seen;
    EXPECT_TRUE(first.train(seen, never));
    ASSERT_EQ(seen.starts.size(), 1u);
    EXPECT_EQ(seen.starts[0].title, "1-2/2 none, seeds 1, 2");
  }
  SweepSession second(plan, folder / "s", kOptions);
  EXPECT_EQ(second.prepare(choose_trials(plan, {}, 0)), 2u);
  GroupRecorder seen;
  EXPECT_TRUE(second.train(seen, never));
  EXPECT_EQ(second.prepare(choose_trials(plan, {}, 0)), 0u);
  const SweepResults results = second.results();
  ASSERT_EQ(results.runs.size(), 2u);
  EXPECT_EQ(results.trainers.size(), 1u);
  for (const char* file : {SweepFolder::kResults, SweepFolder::kTable, SweepFolder::kChart})
    EXPECT_FALSE(read_file(folder / "s" / file).empty()) << file;
}

TEST(SweepSession, StoppedItFindsTheSameLater) {
  const TemporaryFolder folder;
  const SweepPlan plan = two_runs();
  const auto trials = choose_trials(plan, {}, 0);
  GroupRecorder seen;
  {
    SweepSession whole(plan, folder / "whole", kOptions);
    whole.prepare(trials);
    EXPECT_TRUE(whole.train(seen, never));
  }
  {
    SweepSession first(plan, folder / "s", kOptions);
    first.prepare(trials);
    size_t asked = 0;
    EXPECT_FALSE(first.train(seen, [&] { return ++asked == 3; }));
  }
  SweepSession second(plan, folder / "s", kOptions);
  EXPECT_EQ(second.prepare(trials), 4u);
  EXPECT_TRUE(second.train(seen, never));
  for (const char* run : {"none-1", "none-2", "gold-1", "gold-2"}) {
    EXPECT_EQ(read_file(folder / "s" / run / "model.safetensors"),
              read_file(folder / "whole" / run / "model.safetensors"))
        << run;
  }
}

TEST(SweepSession, SaysWhichRunDoesNotFitBeforeAnyIsTrained) {
  const TemporaryFolder folder;
  SweepPlan plan = two_runs();
  plan.runs[1].config.round.clients = 1000;
  SweepSession session(plan, folder / "s", kOptions);
  try {
    session.prepare(choose_trials(plan, {}, 0));
    FAIL() << "a round of more clients than there are went through";
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("run 'gold': ")) << error.what();
  }
  EXPECT_FALSE(RunWriter::has_begun(folder / "s" / "none-1"));
}

}  // namespace
}  // namespace subfleet
