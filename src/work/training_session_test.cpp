#include "subfleet/work/training_session.h"

#include <gtest/gtest.h>

#include "subfleet/base/file.h"
#include "subfleet/error.h"
#include "subfleet/store/session.h"
#include "temporary_folder.h"
#include "tiny_run.h"

namespace subfleet {
namespace {

constexpr uint32_t kRounds = 4;

Config session_config(uint32_t rounds = kRounds) {
  Config config = tiny_config();
  config.run.rounds = rounds;
  config.run.checkpoint_every = 2;
  return config;
}

struct Site {
  ThreadPool pool{2};
  LocalFleet fleet = tiny_fleet(pool);
  Provenance now = provenance_now(session_config(), fleet, {.device = "reference", .threads = 2});
};

std::vector<float> weights_of(const TrainingSession& session) {
  return {session.run().weights().begin(), session.run().weights().end()};
}

bool never() { return false; }

class CountingObserver final : public RoundObserver {
 public:
  void round_done(Run&, const RoundRecord& record) override {
    rounds.push_back(record.round);
    bytes += record.bytes_down + record.bytes_up;
  }
  std::vector<uint32_t> rounds;
  uint64_t bytes = 0;
};

TEST(TrainingSession, TrainsInMemoryAsARunAlone) {
  Site site;
  TrainingSession session(session_config(), site.fleet, site.now);
  CountingObserver seen;
  RoundObserver* const observer = &seen;
  EXPECT_TRUE(session.train({&observer, 1}, never));
  EXPECT_EQ(seen.rounds, (std::vector<uint32_t>{1, 2, 3, 4}));
  EXPECT_EQ(session.bytes(), seen.bytes);
  EXPECT_FALSE(session.folder());
  EXPECT_EQ(weights_of(session), weights_after(session_config(), kRounds, 1, "reference"));
}

TEST(TrainingSession, ResumesWithTheSameBits) {
  const TemporaryFolder folder;
  Site site;
  uint64_t bytes = 0;
  {
    TrainingSession first(session_config(), site.fleet, site.now);
    first.write_to(folder / "run");
    EXPECT_FALSE(first.train({}, [&] { return first.run().round() == 3; }));
    bytes = first.bytes();
  }
  TrainingSession second(session_config(), site.fleet, site.now, RunWriter::reopen(folder / "run"));
  EXPECT_EQ(second.run().round(), 3u);
  EXPECT_EQ(second.bytes(), bytes);
  EXPECT_TRUE(second.train({}, never));
  EXPECT_EQ(second.folder(), folder / "run");
  const std::vector<float> alone = weights_after(session_config(), kRounds, 1, "reference");
  EXPECT_EQ(weights_of(second), alone);
  EXPECT_EQ(RunWriter::weights(folder / "run", second.run().model()), alone);
  EXPECT_EQ(RunWriter::log(folder / "run").size(), kRounds);
  EXPECT_EQ(RunWriter::provenance(folder / "run").sessions.size(), 2u);
  EXPECT_TRUE(std::filesystem::exists(folder / "run" / RunWriter::kPage));
  EXPECT_TRUE(std::filesystem::exists(folder / "run" / EventFile::kName));
}

// Whoever goes away without finish() loses what came after the last checkpoint, and no more.
TEST(TrainingSession, StepsAndGoesOnFromTheLastCheckpoint) {
  const TemporaryFolder folder;
  Site site;
  {
    TrainingSession first(session_config(), site.fleet, site.now);
    first.write_to(folder / "run");
    for (uint32_t round = 1; round <= 3; ++round) EXPECT_EQ(first.step().round, round);
  }
  TrainingSession second(session_config(), site.fleet, site.now, RunWriter::reopen(folder / "run"));
  EXPECT_EQ(second.run().round(), 2u);
  second.step();
  second.step();
  second.finish();
  EXPECT_EQ(weights_of(second), weights_after(session_config(), kRounds, 1, "reference"));
  EXPECT_TRUE(RunWriter::is_finished(folder / "run"));
}

TEST(TrainingSession, BeginsFromAFileAndNotesIt) {
  const TemporaryFolder folder;
  Site site;
  std::vector<float> trained;
  {
    TrainingSession first(session_config(1), site.fleet, site.now);
    first.write_to(folder / "first");
    first.train({}, never);
    trained = weights_of(first);
  }
  const std::filesystem::path file = folder / "first/model.safetensors";
  TrainingSession second(session_config(), site.fleet, site.now, file);
  EXPECT_EQ(weights_of(second), trained);
  second.write_to(folder / "second");
  const auto initial = RunWriter::provenance(folder / "second").initial;
  ASSERT_TRUE(initial);
  EXPECT_EQ(initial->file, file.string());
}

TEST(TrainingSession, GivenWeightsAreThoseOfTheResumedRun) {
  const TemporaryFolder folder;
  Site site;
  std::vector<float> given;
  {
    TrainingSession first(session_config(), site.fleet, site.now);
    first.write_to(folder / "run");
    first.step();
    given.assign(first.run().weights().size(), 0.5f);
    first.set_weights(given);
  }
  const TrainingSession second(session_config(), site.fleet, site.now, RunWriter::reopen(folder / "run"));
  EXPECT_EQ(weights_of(second), given);
}

TEST(TrainingSession, GivenWeightsMakeTheModelOfTheirRoundOld) {
  const TemporaryFolder folder;
  Site site;
  TrainingSession session(session_config(2), site.fleet, site.now);
  session.write_to(folder / "run");
  session.train({}, never);
  ASSERT_TRUE(RunWriter::is_finished(folder / "run"));
  const std::vector<float> given(session.run().weights().size(), 0.5f);
  session.set_weights(given);
  EXPECT_FALSE(RunWriter::is_finished(folder / "run"));
  EXPECT_THROW(RunWriter::weights(folder / "run", session.run().model()), Error);
  session.finish();
  EXPECT_TRUE(RunWriter::is_finished(folder / "run"));
  EXPECT_EQ(RunWriter::weights(folder / "run", session.run().model()), given);
}

TEST(TrainingSession, WritesToNoFolderThatHoldsARun) {
  const TemporaryFolder folder;
  Site site;
  { TrainingSession(session_config(), site.fleet, site.now).write_to(folder / "run"); }
  TrainingSession second(session_config(), site.fleet, site.now);
  EXPECT_THROW(second.write_to(folder / "run"), Error);
  EXPECT_THROW(TrainingSession(session_config(), site.fleet, site.now, RunWriter::reopen(folder / "none")),
               Error);
}

}  // namespace
}  // namespace subfleet
