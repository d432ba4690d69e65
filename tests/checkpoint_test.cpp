// Saving a run between two rounds and going on from there.

#include "store/checkpoint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "forwarding_fleet.h"
#include "subfleet/base/file.h"
#include "subfleet/error.h"
#include "subfleet/safetensors.h"
#include "subfleet/store/run_writer.h"
#include "subfleet/sweep/sweep_folder.h"
#include "subfleet/training.h"
#include "temporary_folder.h"
#include "tiny_run.h"

namespace subfleet {
namespace {

// Writes a checkpoint anew with other metadata.
void save_with(const std::filesystem::path& path, const TensorFile& file) {
  std::vector<TensorView> tensors;
  for (const auto& [name, tensor] : file.tensors) tensors.push_back({name, tensor.shape, tensor.values});
  save_safetensors(path, tensors, file.metadata);
}

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

// A checkpoint from before there were schedules is of a run with none.
TEST(Checkpoint, SettingsThatCameLaterHaveTheirNeutralValues) {
  const TemporaryFolder folder;
  ThreadPool pool(1);
  LocalFleet fleet = tiny_fleet(pool);
  subfleet::Run run(tiny_config(), fleet);
  save_checkpoint(folder / "c", run);
  TensorFile file = load_safetensors(folder / "c");
  for (const char* name : {"format", "hash", "setting.server.schedule", "setting.server.average"})
    ASSERT_EQ(file.metadata.erase(name), 1u) << name;
  save_with(folder / "old", file);
  load_checkpoint(folder / "old", run);
  Config config = tiny_config();
  config.schedules.server.schedule = "cosine";
  subfleet::Run other(config, fleet);
  EXPECT_THROW(load_checkpoint(folder / "old", other), Error);
}

TEST(Checkpoint, HoldsTheWeightsAndTheirMean) {
  const TemporaryFolder folder;
  ThreadPool pool(1);
  LocalFleet fleet = tiny_fleet(pool);
  Config config = tiny_config();
  config.server.average = 0.9;
  subfleet::Run first(config, fleet), second(config, fleet);
  first.step();
  first.step();
  save_checkpoint(folder / "c", first);
  load_checkpoint(folder / "c", second);
  first.step();
  second.step();
  EXPECT_TRUE(std::ranges::equal(first.weights(), second.weights()));
  EXPECT_TRUE(std::ranges::equal(first.tested_weights(), second.tested_weights()));
  EXPECT_FALSE(std::ranges::equal(first.weights(), first.tested_weights()));
}

TEST(Checkpoint, AnyFlippedByteIsNoticed) {
  const TemporaryFolder folder;
  ThreadPool pool(1);
  LocalFleet fleet = tiny_fleet(pool);
  subfleet::Run run(tiny_config(), fleet);
  save_checkpoint(folder / "c", run);
  const std::string good = read_file(folder / "c");
  uint64_t header = 0;
  std::memcpy(&header, good.data(), sizeof header);
  const auto expect_noticed = [&](size_t at) {
    std::string bad = good;
    bad[at] ^= 1;
    write_file(folder / "bad", bad);
    EXPECT_THROW(load_checkpoint(folder / "bad", run), Error) << "byte " << at;
  };
  for (size_t at = 0; at < header; at += 31) expect_noticed(at);
  for (size_t at = sizeof header + header; at < good.size(); at += good.size() / 64 + 1) expect_noticed(at);
  expect_noticed(good.size() - 1);
  load_checkpoint(folder / "c", run);
}

TEST(Checkpoint, OfFormat0IsReadAndOfANewerOneRefused) {
  const TemporaryFolder folder;
  ThreadPool pool(1);
  LocalFleet fleet = tiny_fleet(pool);
  subfleet::Run run(tiny_config(), fleet);
  save_checkpoint(folder / "c", run);
  TensorFile file = load_safetensors(folder / "c");
  file.metadata["format"] = "9";
  save_with(folder / "newer", file);
  EXPECT_THROW(load_checkpoint(folder / "newer", run), Error);
  file.metadata.erase("format");
  file.metadata.erase("hash");
  save_with(folder / "old", file);
  load_checkpoint(folder / "old", run);
}

// What an older Subfleet, or a crash, may leave: a run that goes on beside the model of an earlier round.
TEST(RunWriter, AModelOlderThanTheRunIsNotItsModel) {
  const TemporaryFolder folder;
  ThreadPool pool(1);
  LocalFleet fleet = tiny_fleet(pool);
  Config config = tiny_config();
  config.run.rounds = 2;
  Provenance now;
  now.data = {.source = "tiny", .clients = kClients, .fingerprint = 1};
  const auto path = folder / "run", model = path / "model.safetensors";
  subfleet::Run run(config, fleet);
  {
    RunWriter writer = RunWriter::begin(path, run, now);
    RoundObserver* const observer = &writer;
    train(run, {&observer, 1}, [] { return false; });
    EXPECT_FALSE(RunWriter::is_finished(path));
    writer.finish(run);
  }
  EXPECT_TRUE(RunWriter::is_finished(path));
  const std::string old = read_file(model);

  config.run.rounds = 4;
  config.run.checkpoint_every = 1;
  {
    subfleet::Run longer(config, fleet);
    RunWriter writer = RunWriter::reopen(path);
    writer.restore(longer, now);
    EXPECT_FALSE(RunWriter::is_finished(path)) << "two more rounds are wanted";
    EXPECT_EQ(RunWriter::model_round(path), 2u);
    RoundObserver* const observer = &writer;
    train(longer, {&observer, 1}, [] { return false; });
    EXPECT_FALSE(std::filesystem::exists(model));
  }
  write_file(model, old);
  EXPECT_FALSE(RunWriter::is_finished(path)) << "the log has four rounds, the model is of the second";
  EXPECT_FALSE(RunWriter::model_round(path));
  EXPECT_FALSE(finished_log(path, 4));
  EXPECT_THROW(RunWriter::weights(path, run.model()), Error);
  {
    subfleet::Run longer(config, fleet);
    RunWriter writer = RunWriter::reopen(path);
    writer.restore(longer, now);
    EXPECT_FALSE(std::filesystem::exists(model));
    writer.finish_for_good(longer);
  }
  EXPECT_TRUE(finished_log(path, 4)) << "without a checkpoint, log and model decide";
  const std::vector<float> weights = weights_after(config, 4, 1, "reference");
  EXPECT_EQ(RunWriter::weights(path, run.model()), weights);
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
