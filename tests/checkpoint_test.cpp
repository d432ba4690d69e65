// Saving a run between two rounds and going on from there.

#include "store/checkpoint.h"

#include <gtest/gtest.h>

#include "subfleet/error.h"
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

}  // namespace
}  // namespace subfleet
