#include "subfleet/run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "nn/reference/network.h"
#include "subfleet/codes.h"
#include "subfleet/error.h"
#include "subfleet/round_masks.h"
#include "subfleet/training.h"
#include "tiny_run.h"

namespace subfleet {
namespace {

// Those of round 1.
std::vector<SubModel> first_submodels(const Config& config) {
  return draw_submodels(resolve_model(config.model), config.code, config.run.seed, 1,
                        sample_clients(config.run.seed, 1, config.round.clients, kClients));
}

// Strong and weak clients among the six.
Config tiered_config() {
  Config config = tiny_config();
  config.round.clients = kClients;
  config.code.tiers = {1.0, 0.5, 0.25};
  config.code.layers["dense2"] = {.family = "cwc", .keep = 0.75};
  return config;
}

// Plain SGD through one client's examples, without shuffling.
void train_in_order(const ModelSpec& model, const Examples& examples, const LocalTraining& how,
                    std::vector<float>& weights) {
  const auto network = reference::make_network(model);
  for (size_t first = 0; first < examples.count(); first += how.batch) {
    const size_t count = std::min<size_t>(how.batch, examples.count() - first);
    const Batch batch{
        .inputs = std::span(examples.inputs).subspan(first * examples.features, count * examples.features),
        .labels = std::span(examples.labels).subspan(first, count)};
    network->train_step(weights, batch, how.client_lr);
  }
}

TEST(Run, WithoutDropoutARoundIsPlainFedAvg) {
  Config config = tiny_config();
  config.code.family = "none";
  config.server = {.optimizer = "fedavg", .lr = 1.0};
  config.round.shuffle = false;

  // Plain FedAvg: every sampled client trains the whole model; the new weights are the mean by examples.
  const ModelSpec model = resolve_model(config.model);
  const std::vector<float> start = initial_weights(model, config.run.seed);
  const TinyFederation data(kClients);
  std::vector<double> mean(start.size(), 0.0);
  double examples = 0;
  for (const uint32_t client : sample_clients(config.run.seed, 1, config.round.clients, kClients)) {
    const Examples mine = data.load(client);
    std::vector<float> weights = start;
    train_in_order(model, mine, config.round, weights);
    for (size_t i = 0; i < mean.size(); ++i) mean[i] += weights[i] * static_cast<double>(mine.count());
    examples += static_cast<double>(mine.count());
  }

  const std::vector<float> got = weights_after(config, 1, 1, "reference");
  size_t moved = 0;
  for (size_t i = 0; i < mean.size(); ++i) {
    EXPECT_NEAR(got[i], mean[i] / examples, 1e-8);
    moved += got[i] != start[i] ? 1 : 0;
  }
  EXPECT_GT(moved, mean.size() / 2);
}

TEST(Run, TheNumberOfThreadsDoesNotChangeABit) {
  for (const std::string& device : trainer_names()) {
    const std::vector<float> one = weights_after(tiny_config(), 3, 1, device);
    EXPECT_EQ(one, weights_after(tiny_config(), 3, 2, device)) << device;
    EXPECT_EQ(one, weights_after(tiny_config(), 3, 3, device)) << device;
  }
}

TEST(Run, TheNumberOfThreadsDoesNotChangeABitWithTiers) {
  std::set<size_t> sizes;
  for (const SubModel& submodel : first_submodels(tiered_config())) sizes.insert(submodel.size());
  ASSERT_GT(sizes.size(), 1u);
  for (const std::string& device : trainer_names()) {
    const std::vector<float> one = weights_after(tiered_config(), 3, 1, device);
    EXPECT_EQ(one, weights_after(tiered_config(), 3, 2, device)) << device;
    EXPECT_EQ(one, weights_after(tiered_config(), 3, 3, device)) << device;
  }
}

TEST(Run, TheNumberOfThreadsDoesNotChangeABitWithLossyCodecs) {
  for (const std::string& device : trainer_names()) {
    const std::vector<float> exact = weights_after(tiny_config(), 2, 1, device);
    for (const WireOptions& wire : {WireOptions{"rot4", "rot1"}, WireOptions{"f16", "int8"}}) {
      Config config = tiny_config();
      config.wire = wire;
      const std::vector<float> one = weights_after(config, 2, 1, device);
      EXPECT_EQ(one, weights_after(config, 2, 3, device)) << device << ", " << wire.down;
      EXPECT_NE(one, exact) << device << ", " << wire.down;
    }
  }
}

TEST(Run, RunsSteppedTogetherGetTheBitsOfEachAlone) {
  std::vector<Config> configs(3, tiny_config());
  configs[1].server.lr = 0.1;
  configs[1].run.first_draw = 1000;
  configs[2].round.client_lr = 0.01f;
  configs[2].code.family = "random";
  constexpr uint32_t kRounds = 2;
  for (const std::string& device : trainer_names()) {
    std::vector<std::vector<float>> alone;
    for (const Config& config : configs) alone.push_back(weights_after(config, kRounds, 1, device));
    for (const size_t threads : {1, 3}) {
      ThreadPool pool(threads);
      LocalFleet fleet = tiny_fleet(pool, device);
      std::vector<std::unique_ptr<subfleet::Run>> runs;
      std::vector<subfleet::Run*> together;
      for (const Config& config : configs) {
        runs.push_back(std::make_unique<subfleet::Run>(config, fleet));
        together.push_back(runs.back().get());
      }
      for (uint32_t round = 1; round <= kRounds; ++round) {
        for (const SteppedRound& one : step_together(together, fleet)) EXPECT_EQ(one.record.round, round);
      }
      for (size_t i = 0; i < configs.size(); ++i) {
        const std::vector<float> weights(runs[i]->weights().begin(), runs[i]->weights().end());
        EXPECT_EQ(weights, alone[i]) << device << ", run " << i;
      }
    }
  }
}

TEST(Run, OneThatDivergesLeavesTheOthersAlone) {
  ThreadPool pool(2);
  LocalFleet fleet = tiny_fleet(pool);
  Config wild = tiny_config();
  wild.round.client_lr = 1e6f;
  subfleet::Run good(tiny_config(), fleet), bad(wild, fleet);
  const std::vector<subfleet::Run*> both{&bad, &good};
  const std::vector<SteppedRound> rounds = step_together(both, fleet);
  const RoundRecord& last = rounds[0].record;
  EXPECT_TRUE(std::isnan(last.train_accuracy_median));
  EXPECT_TRUE(std::isnan(last.train_loss));
  EXPECT_GT(last.bytes_up, 0u) << "they were exchanged all the same";
  EXPECT_NE(rounds[0].diverged.find("diverged"), std::string::npos) << rounds[0].diverged;
  EXPECT_EQ(rounds[1].diverged, "");
  EXPECT_EQ(bad.round(), 0u);
  const std::vector<float> weights(good.weights().begin(), good.weights().end());
  EXPECT_EQ(weights, weights_after(tiny_config(), 1, 1, "reference"));
}

TEST(Run, LaterDrawsAreOthersFromTheSameWeights) {
  ThreadPool pool(1);
  LocalFleet fleet = tiny_fleet(pool);
  Config later = tiny_config();
  later.run.first_draw = 7;
  subfleet::Run first(tiny_config(), fleet), second(later, fleet);
  EXPECT_TRUE(std::ranges::equal(first.weights(), second.weights()));
  const Cohort a = first.begin_round(), b = second.begin_round();
  const std::vector<uint32_t> drawn = sample_clients(later.run.seed, 8, later.round.clients, kClients);
  for (size_t row = 0; row < drawn.size(); ++row) EXPECT_EQ(b.jobs[row].client, drawn[row]);
  EXPECT_NE(a.draw, b.draw);
}

TEST(Run, FedExpStepsByTheDisagreementOfTheHolders) {
  Config config = tiered_config();
  config.server = {.optimizer = "fedexp", .lr = 1.0, .tau = 1e-9};
  config.round.shuffle = false;
  const std::vector<float> start = initial_weights(resolve_model(config.model), config.run.seed);

  // Plainly: every client's update at full length, with zeros where it held nothing.
  const ModelSpec model = resolve_model(config.model);
  const std::vector<uint32_t> clients = sample_clients(config.run.seed, 1, config.round.clients, kClients);
  const std::vector<SubModel> submodels = first_submodels(config);
  const TinyFederation data(kClients);
  std::vector<double> sum(start.size(), 0.0), holders(start.size(), 0.0);
  double squares = 0, examples = 0;
  for (size_t row = 0; row < clients.size(); ++row) {
    const Examples mine = data.load(clients[row]);
    const auto count = static_cast<double>(mine.count());
    std::vector<float> weights(submodels[row].size());
    submodels[row].gather(start, weights);
    train_in_order(submodels[row].spec(), mine, config.round, weights);
    examples += count;
    submodels[row].for_each_run([&](size_t full, size_t sub, size_t length) {
      for (size_t i = 0; i < length; ++i) {
        const double update = weights[sub + i] - start[full + i];
        squares += count * update * update;
        sum[full + i] += count * update;
        holders[full + i] += count;
      }
    });
  }
  double of_mean = 0;
  for (size_t i = 0; i < sum.size(); ++i)
    of_mean += holders[i] == 0 ? 0 : sum[i] * sum[i] / holders[i] / examples;
  const double eta = squares / examples / (2 * (of_mean + config.server.tau));
  ASSERT_GT(eta, 1) << "or it would be fedavg";
  const std::vector<float> got = weights_after(config, 1, 2, "reference");
  for (size_t i = 0; i < sum.size(); ++i) {
    const double mean = holders[i] == 0 ? 0 : sum[i] / holders[i];
    ASSERT_NEAR(got[i], start[i] + eta * mean, 1e-7) << i;
  }
}

TEST(Run, WithTiersAWeightIsAveragedOverItsHolders) {
  Config config = tiered_config();
  config.server = {.optimizer = "fedavg", .lr = 1.0};
  config.round.shuffle = false;

  // By brute force: whoever holds a weight counts, by its examples, whatever its tier.
  const ModelSpec model = resolve_model(config.model);
  const std::vector<float> start = initial_weights(model, config.run.seed);
  const std::vector<uint32_t> clients = sample_clients(config.run.seed, 1, config.round.clients, kClients);
  const std::vector<SubModel> submodels = first_submodels(config);
  const TinyFederation data(kClients);
  std::vector<double> sum(start.size(), 0.0), examples(start.size(), 0.0);
  for (size_t row = 0; row < clients.size(); ++row) {
    const Examples mine = data.load(clients[row]);
    std::vector<float> weights(submodels[row].size());
    submodels[row].gather(start, weights);
    train_in_order(submodels[row].spec(), mine, config.round, weights);
    submodels[row].for_each_run([&](size_t full, size_t sub, size_t count) {
      for (size_t i = 0; i < count; ++i) {
        sum[full + i] += double{weights[sub + i]} * static_cast<double>(mine.count());
        examples[full + i] += static_cast<double>(mine.count());
      }
    });
  }

  const std::vector<float> got = weights_after(config, 1, 2, "reference");
  std::set<double> holders(examples.begin(), examples.end());
  EXPECT_GT(holders.size(), 5u) << "weights are held by different clients";
  for (size_t i = 0; i < sum.size(); ++i) {
    EXPECT_NEAR(got[i], examples[i] == 0 ? start[i] : sum[i] / examples[i], 1e-8) << i;
  }
}

TEST(Run, RescalingAWholeModelChangesNoBit) {
  Config plain = tiny_config();
  plain.code.family = "none";
  plain.code.rescale = false;
  Config rescaled = plain;
  rescaled.code.rescale = true;
  for (const std::string& device : trainer_names()) {
    EXPECT_EQ(weights_after(rescaled, 2, 2, device), weights_after(plain, 2, 2, device)) << device;
  }
}

TEST(Run, RescaledTiersLearnAlikeOnEveryDevice) {
  Config plain = tiered_config();
  plain.code.rescale = false;
  plain.server = {.optimizer = "fedavg", .lr = 1.0};
  Config config = plain;
  config.code.rescale = true;
  const std::vector<float> expected = weights_after(config, 2, 1, "reference");
  EXPECT_NE(expected, weights_after(plain, 2, 1, "reference"));
  for (const std::string& device : trainer_names()) {
    const double tolerance = device == "cuda-tf32" ? 1e-3 : 1e-5;
    const std::vector<float> got = weights_after(config, 2, 2, device);
    for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], tolerance) << device << " " << i;
    EXPECT_EQ(got, weights_after(config, 2, 3, device)) << device;
  }
}

TEST(Run, BytesAreThoseOfEachClientsOwnSubModelAsItsCodecEncodesIt) {
  ThreadPool pool(1);
  LocalFleet fleet = tiny_fleet(pool);
  for (const WireOptions& wire : {WireOptions{}, WireOptions{"int8", "rot3"}}) {
    Config config = tiered_config();
    config.wire = wire;
    subfleet::Run run(config, fleet);
    const RoundRecord report = run.step();
    uint64_t down = 0, up = 0;
    for (const SubModel& submodel : first_submodels(config)) {
      down += find_codec(wire.down).encoded_size(submodel.size());
      up += find_codec(wire.up).encoded_size(submodel.size());
    }
    EXPECT_GT(report.bytes_down, down);
    EXPECT_LT(report.bytes_down, down + config.round.clients * 256);
    EXPECT_GT(report.bytes_up, up);
    EXPECT_LT(report.bytes_up, up + config.round.clients * 128);
  }
}

TEST(Run, EveryFamilyAndOptimizerTrains) {
  size_t trained = 0;
  for (const CodeFamily* family : code_families()) {
    for (const std::string& optimizer : server_optimizer_names()) {
      Config config = tiny_config();
      config.code.family = family->name();
      config.server.optimizer = optimizer;
      try {
        validate(config);
      } catch (const Error&) {
        continue;  // a family that has no words for 128 units
      }
      ++trained;
      EXPECT_NE(weights_after(config, 1, 2, trainer_names().back()),
                initial_weights(resolve_model(config.model), config.run.seed))
          << family->name() << " " << optimizer;
    }
  }
  EXPECT_GE(trained, 8 * server_optimizer_names().size()) << "most families have words for 128 units";
}

TEST(Run, AWeightNobodyHeldIsUntouchedAndAHeldOneMoves) {
  Config config = tiny_config();
  config.code.family = "same";  // half of dense2 is held by nobody
  const std::vector<float> start = initial_weights(resolve_model(config.model), config.run.seed);
  const std::vector<float> after = weights_after(config, 1, 1, "reference");
  const auto submodels = first_submodels(config);
  std::vector<bool> held(start.size(), false);
  submodels[0].for_each_run([&](size_t full, size_t, size_t count) {
    std::fill_n(held.begin() + static_cast<ptrdiff_t>(full), count, true);
  });
  size_t moved = 0, held_count = 0;
  for (size_t i = 0; i < start.size(); ++i) {
    if (!held[i]) {
      EXPECT_EQ(after[i], start[i]) << i;
    }
    held_count += held[i] ? 1 : 0;
    moved += after[i] != start[i] ? 1 : 0;
  }
  EXPECT_GT(moved, held_count / 2);
  EXPECT_LT(held_count, start.size());
}

TEST(Run, AZeroUpdateChangesNoBit) {
  Config config = tiny_config();
  config.round.client_lr = 0;
  for (const std::string& optimizer : server_optimizer_names()) {
    config.server.optimizer = optimizer;
    EXPECT_EQ(weights_after(config, 2, 1, "reference"),
              initial_weights(resolve_model(config.model), config.run.seed))
        << optimizer;
  }
}

TEST(Run, BytesAreFourPerParameterEachWayAndAShortHeader) {
  ThreadPool pool(1);
  LocalFleet fleet = tiny_fleet(pool);
  const Config config = tiny_config();
  subfleet::Run run(config, fleet);
  const RoundRecord report = run.step();
  const auto submodels = first_submodels(config);
  const uint64_t payload = 4 * config.round.clients * submodels[0].size();
  EXPECT_GT(report.bytes_down, payload);
  EXPECT_GT(report.bytes_up, payload);
  EXPECT_LT(report.bytes_down, payload + config.round.clients * 128);
  EXPECT_LT(report.bytes_up, payload + config.round.clients * 128);
}

TEST(Run, ItsStateIsRestoredOnlyInTheRightSize) {
  ThreadPool pool(1);
  LocalFleet fleet = tiny_fleet(pool);
  subfleet::Run run(tiny_config(), fleet);
  const std::vector<float> weights(run.weights().begin(), run.weights().end());
  std::vector<std::vector<float>> moments(2, weights);
  EXPECT_THROW(run.restore(1, std::span(weights).first(5), moments), Error);
  moments[1].pop_back();
  EXPECT_THROW(run.restore(1, weights, moments), Error);
  moments.pop_back();
  EXPECT_THROW(run.restore(1, weights, moments), Error);
  EXPECT_EQ(run.round(), 0u);
}

TEST(Training, TestsWhereItsTurnIsShowsEveryRoundAndStopsWhenAsked) {
  class Listener final : public RoundObserver {
   public:
    void round_done(subfleet::Run& run, const RoundRecord& record) override {
      EXPECT_EQ(run.round(), record.round);
      rounds.push_back(record.round);
      if (record.test_accuracy) tested.push_back(record.round);
    }
    std::vector<uint32_t> rounds, tested;
  };
  ThreadPool pool(1);
  LocalFleet fleet(SplitFederation(std::make_unique<TinyFederation>(kClients), 0, 0.5), "reference", pool, 0);
  Config config = tiny_config();
  config.run.rounds = 5;
  config.run.eval_every = 2;
  subfleet::Run run(config, fleet);
  Listener listener;
  const std::vector<RoundObserver*> observers{&listener};
  EXPECT_FALSE(train(run, observers, [&] { return listener.rounds.size() == 3; }));
  EXPECT_TRUE(train(run, observers, [] { return false; }));
  EXPECT_EQ(listener.rounds, (std::vector{1u, 2u, 3u, 4u, 5u}));
  EXPECT_EQ(listener.tested, (std::vector{2u, 4u, 5u}));
}

TEST(Run, MoreClientsThanThereAreIsABadRequest) {
  ThreadPool pool(1);
  LocalFleet fleet = tiny_fleet(pool);
  Config config = tiny_config();
  config.round.clients = kClients + 1;
  EXPECT_THROW(subfleet::Run(config, fleet), Error);
}

TEST(SampleClients, AreDifferentAndEquallyLikely) {
  constexpr uint32_t kTotal = 20, kCount = 5, kRounds = 8000;
  constexpr uint32_t kOften = kRounds * kCount / kTotal, kFirst = kRounds / kTotal;
  std::vector<int> taken(kTotal, 0), first(kTotal, 0);
  for (uint32_t round = 0; round < kRounds; ++round) {
    const auto clients = sample_clients(1, round, kCount, kTotal);
    EXPECT_EQ(std::set(clients.begin(), clients.end()).size(), kCount);
    for (const uint32_t client : clients) ++taken[client];
    ++first[clients[0]];
  }
  for (uint32_t client = 0; client < kTotal; ++client) {
    EXPECT_NEAR(taken[client], kOften, 170);  // four standard deviations
    EXPECT_NEAR(first[client], kFirst, 85);
  }
  EXPECT_EQ(sample_clients(1, 1, 3, 3).size(), 3);
}

}  // namespace
}  // namespace subfleet
