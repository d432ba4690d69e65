// Saving a run between two rounds and going on from there.

#include "store/checkpoint.h"

#include <gtest/gtest.h>

#include "forwarding_fleet.h"
#include "store/run_writer.h"
#include "subfleet/error.h"
#include "subfleet/training.h"
#include "temporary_folder.h"
#include "tiny_run.h"

namespace subfleet {
namespace {

TEST(Checkpoint, GoingOnFromItGivesTheSameBits) {
  const TemporaryFolder folder;
  ThreadPool pool(2);
  LocalFleet fleet = tiny_fleet(pool);
  subfleet::Run first(tiny_config(), fleet);
  first.step();
  first.step();
  save_checkpoint(folder / "c", first);

  subfleet::Run second(tiny_config(), fleet);
  load_checkpoint(folder / "c", second);
  EXPECT_EQ(second.round(), 2);
  second.step();
  const std::vector<float> resumed(second.weights().begin(), second.weights().end());
  EXPECT_EQ(resumed, weights_after(tiny_config(), 3, 1, "reference"));
}

TEST(Checkpoint, OfAnotherRunIsRefused) {
  const TemporaryFolder folder;
  ThreadPool pool(1);
  LocalFleet fleet = tiny_fleet(pool);
  save_checkpoint(folder / "c", subfleet::Run(tiny_config(), fleet));
  for (const auto& [name, value] :
       {std::pair{"server.optimizer", "fedavg"}, {"run.seed", "4"}, {"server.lr", "1"}}) {
    Config config = tiny_config();
    set(config, name, value);
    subfleet::Run other(config, fleet);
    EXPECT_THROW(load_checkpoint(folder / "c", other), Error) << name;
  }
}

// A line taken out of the saved settings is a change as much as one put in.
TEST(Checkpoint, KnowsTheSettingsThatAreNoLongerThere) {
  const TemporaryFolder folder;
  ThreadPool pool(1);
  LocalFleet fleet = tiny_fleet(pool);
  Config with = tiny_config(), without = tiny_config();
  with.code.layers["dense2"] = {.family = "", .keep = 0.25};
  with.code.family = without.code.family = "random";
  subfleet::Run own(with, fleet), plain(without, fleet);
  save_checkpoint(folder / "own", own);
  save_checkpoint(folder / "plain", plain);
  EXPECT_THROW(load_checkpoint(folder / "own", plain), Error);
  EXPECT_THROW(load_checkpoint(folder / "plain", own), Error);
  load_checkpoint(folder / "own", own);
}

// A fleet whose device is lost after so many rounds, as a GPU may be.
class LostFleet final : public ForwardingFleet {
 public:
  LostFleet(Fleet& fleet, uint32_t rounds) : ForwardingFleet(fleet), rounds_(rounds) {}
  std::vector<std::vector<JobResult>> train_batch(std::span<const Cohort> cohorts) override {
    if (rounds_ == 0) throw failure("device", "lost");
    --rounds_;
    return ForwardingFleet::train_batch(cohorts);
  }

 private:
  uint32_t rounds_;
};

TEST(Checkpoint, StaysGoodWhenTheDeviceIsLost) {
  const TemporaryFolder folder;
  ThreadPool pool(1);
  Config config = tiny_config();
  config.run.rounds = 6;
  config.run.checkpoint_every = 2;
  Provenance now;
  now.data = {.source = "tiny", .clients = kClients, .fingerprint = 1};
  LocalFleet fleet = tiny_fleet(pool);
  {
    LostFleet lost(fleet, 3);
    subfleet::Run run(config, lost);
    RunWriter writer = RunWriter::begin(folder / "run", run, now);
    RoundObserver* const observer = &writer;
    EXPECT_THROW(train(run, {&observer, 1}, [] { return false; }), Error);
  }
  RunWriter writer = RunWriter::reopen(folder / "run");
  subfleet::Run run(writer.config(), fleet);
  writer.restore(run, now);
  EXPECT_EQ(run.round(), 2u);
  RoundObserver* const observer = &writer;
  EXPECT_TRUE(train(run, {&observer, 1}, [] { return false; }));
  const std::vector<float> weights(run.weights().begin(), run.weights().end());
  EXPECT_EQ(weights, weights_after(config, 6, 1, "reference"));
}

}  // namespace
}  // namespace subfleet
