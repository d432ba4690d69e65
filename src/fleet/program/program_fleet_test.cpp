#include "subfleet/program_fleet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "nn/jobs.h"
#include "nn/local_sgd.h"
#include "nn/trainers.h"
#include "subfleet/base/file.h"
#include "subfleet/codec.h"
#include "subfleet/error.h"
#include "subfleet/trainer.h"
#include "tiny_run.h"

namespace subfleet {
namespace {

// Trains and tests as the reference trainer does.
class ReferenceProgram final : public ClientProgram {
 public:
  explicit ReferenceProgram(size_t at_once = 3) : at_once_(at_once), fleet_(tiny_fleet(pool_)) {}
  uint32_t clients() const override { return fleet_.clients(); }
  uint32_t classes() const override { return fleet_.classes(); }
  Shape input() const override { return fleet_.input(); }
  uint64_t data_fingerprint() const override { return fleet_.data_fingerprint(); }
  size_t jobs_at_once() const override { return at_once_; }

  void train(std::span<ClientJob> jobs) override {
    EXPECT_LE(jobs.size(), at_once_);
    for (ClientJob& job : jobs) {
      const Examples examples = fleet_.data().train(job.client);
      const RandomKey key{
          .seed = job.seed, .round = job.draw, .client = job.client, .purpose = Purpose::kBatchOrder};
      const Score score = sgd_.train(*job.submodel, job.weights, examples, job.how, key);
      job.result.examples = static_cast<uint32_t>(examples.count());
      set_means(job.result, job.how, score.loss, score.correct);
      if (spoil) spoil(job);
    }
  }

  Evaluation test(std::span<const float> weights) override {
    return {.examples = weights.size(), .correct = 1, .loss = 2};
  }

  std::function<void(ClientJob&)> spoil;

 private:
  size_t at_once_;
  ThreadPool pool_{1};
  LocalFleet fleet_;
  LocalSgd sgd_{host_networks("reference")};
};

struct Trained {
  std::vector<RoundRecord> rounds;
  std::vector<float> weights;
};

Trained train(const Config& config, Fleet& fleet) {
  subfleet::Run run(config, fleet);
  Trained trained;
  for (int round = 0; round < 3; ++round) trained.rounds.push_back(run.step());
  trained.weights.assign(run.weights().begin(), run.weights().end());
  return trained;
}

// Whatever travels how: weights, accuracies, losses and bytes.
TEST(ProgramFleet, IsALocalFleetIfTheProgramTrainsAsItDoes) {
  for (const char* codec : {"f32", "rot4"}) {
    for (const size_t at_once : {1, 3, 100}) {
      Config config = tiny_config();
      config.wire.down = config.wire.up = codec;
      ThreadPool pool(2);
      ReferenceProgram program(at_once);
      ProgramFleet mine(program, pool);
      LocalFleet local = tiny_fleet(pool);
      const Trained a = train(config, mine), b = train(config, local);
      EXPECT_EQ(a.weights, b.weights) << codec;
      for (size_t i = 0; i < a.rounds.size(); ++i) {
        EXPECT_EQ(a.rounds[i].bytes_down, b.rounds[i].bytes_down);
        EXPECT_EQ(a.rounds[i].bytes_up, b.rounds[i].bytes_up);
        EXPECT_EQ(a.rounds[i].train_loss, b.rounds[i].train_loss);
        EXPECT_EQ(a.rounds[i].train_accuracy_median, b.rounds[i].train_accuracy_median);
      }
    }
  }
}

TEST(ProgramFleet, AskItsProgramForTests) {
  ThreadPool pool(1);
  ReferenceProgram program;
  ProgramFleet fleet(program, pool);
  subfleet::Run run(tiny_config(), fleet);
  EXPECT_EQ(run.evaluate().examples, run.weights().size());
}

TEST(ProgramFleet, WhatCannotBeUsedIsLeftOut) {
  ThreadPool pool(1);
  ReferenceProgram program;
  ProgramFleet fleet(program, pool);
  int job = 0;
  program.spoil = [&](ClientJob& spoilt) {
    switch (job++) {
      case 0:
        spoilt.weights[0] = std::numeric_limits<float>::quiet_NaN();
        break;
      case 1:
        spoilt.result.loss = std::numeric_limits<double>::infinity();
        break;
      case 2:
        spoilt.result.accuracy = 1.5;
        break;
      default:
        break;
    }
  };
  subfleet::Run run(tiny_config(), fleet);
  const RoundRecord record = run.step();
  EXPECT_EQ(record.outcomes[JobOutcome::kDiverged], 2u);
  EXPECT_EQ(record.outcomes[JobOutcome::kRejected], 1u);
  EXPECT_EQ(record.outcomes[JobOutcome::kTrained], 1u);
  program.spoil = [](ClientJob& spoilt) { spoilt.weights.pop_back(); };
  EXPECT_THROW(run.step(), Error);
}

TEST(ProgramFleet, StopsBetweenItsJobs) {
  ThreadPool pool(1);
  ReferenceProgram program(1);
  ProgramFleet fleet(program, pool);
  subfleet::Run run(tiny_config(), fleet);
  const std::vector<float> before(run.weights().begin(), run.weights().end());
  std::atomic<bool> flag{false};
  int trained = 0;
  program.spoil = [&](ClientJob&) { flag = ++trained == 2; };
  run.stop_on(flag);
  EXPECT_TRUE(run.can_be_stopped());
  EXPECT_THROW(run.step(), Interrupted);
  EXPECT_EQ(trained, 2);
  EXPECT_TRUE(std::ranges::equal(run.weights(), before));
}

// A program without arithmetic, for a model of tensors.
class Doubling final : public ClientProgram {
 public:
  uint32_t clients() const override { return 4; }
  uint32_t classes() const override { return 2; }
  Shape input() const override { return {1, 1, 1}; }
  uint64_t data_fingerprint() const override { return 1; }
  std::vector<float> initial_weights() const override { return start; }
  size_t jobs_at_once() const override { return 2; }
  void train(std::span<ClientJob> jobs) override {
    for (ClientJob& job : jobs) {
      given.push_back(job.weights);
      for (float& weight : job.weights) weight *= 1.5f;
      job.result = {.examples = 1};
    }
  }
  Evaluation test(std::span<const float>) override { return {}; }

  std::vector<float> start{0.3f, -0.7f, 0.11f, 0.9f, 13.7f, 0.001f, 5.0f, 2.0f};
  std::vector<std::vector<float>> given;
};

TEST(ProgramFleet, StatisticsTravelAsTheyAre) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "statistics.toml";
  write_file(file,
             "input = [1, 1, 1]\noutputs = 2\n[[tensor]]\nname = 'w'\nshape = [4]\n"
             "[[tensor]]\nname = 's'\nshape = [4]\nstatistic = true\n");
  Config config = tiny_config();
  config.model = {.file = file};
  config.server.optimizer = "fedavg";
  config.wire.down = config.wire.up = "rot1";
  ThreadPool pool(1);
  Doubling program;
  ProgramFleet fleet(program, pool);
  subfleet::Run run(config, fleet);
  const RoundRecord record = run.step();
  ASSERT_EQ(program.given.size(), 4u);
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(program.given[0][i] == program.start[i], i >= 4) << i;
  for (size_t i = 4; i < 8; ++i) EXPECT_NEAR(run.weights()[i], 1.5f * program.start[i], 1e-5) << i;
  const size_t sent = find_codec("rot1").encoded_size(4) + 4 * sizeof(float);
  EXPECT_GE(record.bytes_up, 4 * sent);
  EXPECT_LT(record.bytes_up, 4 * (sent + 200));
}

// Statistics are the mean over their holders, whatever the optimizer does with weights.
TEST(ProgramFleet, StatisticsAreAveragedAndNotStepped) {
  const ModelSpec model = parse_model(R"(
name = "mine"
input = [1, 1, 1]
outputs = 2
group = [{ name = "units", units = 4, droppable = true }]
tensor = [
  { name = "weight", shape = [4], rows = "units" },
  { name = "running", shape = [4], rows = "units", statistic = true },
])",
                                      "f");
  ThreadPool pool(1);
  ReferenceProgram program;
  ProgramFleet fleet(program, pool);
  for (const std::string& optimizer : server_optimizer_names()) {
    for (const double average : {0.0, 0.9}) {
      const OptimizerOptions options{.optimizer = optimizer, .lr = 0.5, .average = average};
      if (wants_squared_norms(optimizer)) {
        EXPECT_THROW(fleet.make_state(model, options), Error);
        continue;
      }
      const auto state = fleet.make_state(model, options);
      const std::vector<float> start{1, 1, 1, 1, 10, 10, 10, 10};
      state->set_weights(start);
      state->with_sum([&](PartialSum& sum) {
        const SubModel first(model, std::vector<std::vector<uint32_t>>{{0, 1}}),
            second(model, std::vector<std::vector<uint32_t>>{{1, 2}});
        EXPECT_TRUE(sum.add(first, std::vector<float>{0.25f, 0.25f, 1, 2}, 3));
        EXPECT_TRUE(sum.add(second, std::vector<float>{0.25f, 0.25f, 4, 8}, 1));
      });
      EXPECT_TRUE(state->step({.lr = 0.5}));
      const std::vector<float> weights(state->weights().begin(), state->weights().end());
      EXPECT_EQ(std::vector<float>(weights.begin() + 4, weights.end()),
                (std::vector<float>{11, 12.5f, 18, 10}))
          << optimizer;
      EXPECT_GT(weights[0], 1);
      EXPECT_EQ(weights[3], 1);
      EXPECT_EQ(state->tested_weights()[5], 12.5f);
    }
  }
}

}  // namespace
}  // namespace subfleet
