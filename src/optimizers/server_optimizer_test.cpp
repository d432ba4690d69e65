#include "subfleet/server_optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>

#include "subfleet/error.h"
#include "subfleet/random.h"
#include "subfleet/thread_pool.h"

namespace subfleet {
namespace {

// Two units with a weight and a bias each; unit 0 and unit 1 can be held apart.
const ModelSpec kTwoUnits{"two", {1, 1, 1}, {{.type = "dense", .name = "d", .units = 2, .droppable = true}}};

constexpr double kLr = 0.1;

// A round in which one client moved every weight of the given units by `update`.
PartialSum round_of(const std::vector<uint32_t>& units, float update) {
  const std::vector<std::vector<uint32_t>> kept{units};
  const SubModel held(kTwoUnits, kept);
  PartialSum sum(parameter_count(kTwoUnits));
  const std::vector<float> trained(held.size(), update);
  EXPECT_TRUE(sum.add(held, trained, 3));
  return sum;
}

// Four rounds: unit 0 sees 1, -0.5, nothing, 0.25; unit 1 sees the same without the gap (0 in round 3).
std::vector<std::vector<float>> weights_after_each_round(const OptimizerOptions& options) {
  ThreadPool pool(1);
  const auto optimizer = make_server_optimizer(options, parameter_count(kTwoUnits));
  std::vector<float> weights(parameter_count(kTwoUnits), 0.0f);
  std::vector<std::vector<float>> after;
  for (const std::optional<float> update :
       {std::optional(1.0f), std::optional(-0.5f), std::optional<float>(), std::optional(0.25f)}) {
    EXPECT_TRUE(optimizer->step(weights, update ? round_of({0, 1}, *update) : round_of({1}, 0.0f),
                                {.lr = options.lr}, pool));
    after.push_back(weights);
  }
  return after;
}

void expect_weights(const OptimizerOptions& options, size_t unit, const std::vector<double>& expected) {
  const auto after = weights_after_each_round(options);
  for (size_t round = 0; round < expected.size(); ++round) {
    EXPECT_NEAR(after[round][unit], expected[round], 2e-6) << options.optimizer << " round " << round + 1;
    EXPECT_EQ(after[round][unit], after[round][2 + unit]) << "the bias moves like the weight";
  }
}

OptimizerOptions options(const std::string& name, const std::string& unheld = "freeze") {
  return {.optimizer = name, .lr = kLr, .beta1 = 0.9, .beta2 = 0.99, .tau = 1e-3, .unheld = unheld};
}

// w += 0.1 * mean.
TEST(ServerOptimizer, FedAvgByHand) {
  expect_weights(options("fedavg"), 0, {0.1, 0.05, 0.05, 0.075});
  expect_weights(options("fedavg"), 1, {0.1, 0.05, 0.05, 0.075});
}

// Held: m = .1, .04, -, .061; v = 1e-4, 1.15e-4, -, 1.5106e-4; w grows by .1 m / (sqrt(v) + .001).
TEST(ServerOptimizer, FedAdamByHand) {
  expect_weights(options("fedadam"), 0, {0.9090909, 1.2502771, 1.2502771, 1.7092464});
  expect_weights(options("fedadam"), 1, {0.9090909, 1.2502771, 1.5438911, 1.9662834});
  expect_weights(options("fedadam", "decay"), 0, {0.9090909, 1.2502771, 1.5438911, 1.9662834});
}

// v = .01, .0116, -, .015321.
TEST(ServerOptimizer, FedAdagradByHand) {
  expect_weights(options("fedadagrad"), 0, {0.0990099, 0.1358073, 0.1358073, 0.1846941});
  expect_weights(options("fedadagrad"), 1, {0.0990099, 0.1358073, 0.1672317, 0.2119905});
  expect_weights(options("fedadagrad", "decay"), 0, {0.0990099, 0.1358073, 0.1672317, 0.2119905});
}

// v = 1e-4, 1.16e-4, -, 1.5321e-4: it grows while below m^2.
TEST(ServerOptimizer, FedYogiByHand) {
  expect_weights(options("fedyogi"), 0, {0.9090909, 1.2489285, 1.2489285, 1.7049077});
  expect_weights(options("fedyogi"), 1, {0.9090909, 1.2489285, 1.5402836, 1.9585201});
  expect_weights(options("fedyogi", "decay"), 0, {0.9090909, 1.2489285, 1.5402836, 1.9585201});
}

TEST(ServerOptimizer, YogiShrinksItsSecondMomentBySmallSteps) {
  ThreadPool pool(1);
  const auto yogi = make_server_optimizer(options("fedyogi"), parameter_count(kTwoUnits));
  std::vector<float> weights(parameter_count(kTwoUnits), 0.0f);
  yogi->moments()[1].values[0] = 1.0f;
  EXPECT_TRUE(yogi->step(weights, round_of({0}, 1.0f), {.lr = kLr}, pool));
  // m = .1, so v = 1 - .01 * .01.
  EXPECT_FLOAT_EQ(yogi->moments()[1].values[0], 0.9999f);
}

// Two clients, of 1 and 3 examples: one moves unit 0 (weight and bias) by 1, the other both units by -0.5.
PartialSum two_clients() {
  PartialSum sum(parameter_count(kTwoUnits));
  const std::vector<std::vector<uint32_t>> first{{0}}, both{{0, 1}};
  EXPECT_TRUE(sum.add(SubModel(kTwoUnits, first), std::vector(2, 1.0f), 1));
  EXPECT_TRUE(sum.add(SubModel(kTwoUnits, both), std::vector(4, -0.5f), 3));
  return sum;
}

// Squared norms 2 and 1, in the mean 1.25. Means: unit 0 (1 - 1.5) / 4 = -0.125, held by all; unit 1 -0.5,
// held by 3/4. |mean|^2 = 2 * 0.015625 + 2 * 0.75 * 0.25 = 0.40625, and eta = 1.25 / (2 * 0.50625).
TEST(ServerOptimizer, FedExpByHand) {
  ThreadPool pool(2);
  const PartialSum sum = two_clients();
  const std::vector<JobResult> results{{.outcome = JobOutcome::kTrained, .examples = 1, .squared_norm = 2},
                                       {.outcome = JobOutcome::kTrained, .examples = 3, .squared_norm = 1},
                                       {.outcome = JobOutcome::kDiverged, .examples = 9, .squared_norm = 5},
                                       {.outcome = JobOutcome::kRejected, .examples = 9, .squared_norm = 5}};
  const auto step = [&](double lr, double tau) {
    std::vector<float> weights(parameter_count(kTwoUnits), 0.0f);
    const auto fedexp = make_server_optimizer({.optimizer = "fedexp", .tau = tau}, weights.size());
    EXPECT_TRUE(fedexp->step(weights, sum, {.lr = lr, .results = results}, pool));
    return weights;
  };
  const double eta = 1.25 / (2 * 0.50625);
  for (const size_t i : {0, 2}) EXPECT_NEAR(step(1, 0.1)[i], -0.125 * eta, 1e-6);
  for (const size_t i : {1, 3}) EXPECT_NEAR(step(1, 0.1)[i], -0.5 * eta, 1e-6);
  EXPECT_NEAR(step(0.1, 0.1)[1], -0.05 * eta, 1e-6);
  EXPECT_NEAR(step(1, 100)[1], -0.5, 1e-6) << "never less than fedavg";
}

// Over all 4 examples, unit 0's mean is still -0.125, and unit 1's is 3/4 of -0.5.
// |mean|^2 = 2 * 0.015625 + 2 * 0.140625 = 0.3125.
TEST(ServerOptimizer, TheMeanCanBeOverAllClients) {
  ThreadPool pool(2);
  const PartialSum sum = two_clients();
  const std::vector<JobResult> results{{.outcome = JobOutcome::kTrained, .examples = 1, .squared_norm = 2},
                                       {.outcome = JobOutcome::kTrained, .examples = 3, .squared_norm = 1}};
  const auto step = [&](const std::string& name) {
    std::vector<float> weights(parameter_count(kTwoUnits), 0.0f);
    const auto optimizer =
        make_server_optimizer({.optimizer = name, .tau = 0.1, .mean = "all"}, weights.size());
    EXPECT_TRUE(optimizer->step(weights, sum, {.lr = 1, .results = results}, pool));
    return weights;
  };
  EXPECT_NEAR(step("fedavg")[0], -0.125, 1e-6);
  EXPECT_NEAR(step("fedavg")[1], -0.375, 1e-6);
  const double eta = 1.25 / (2 * (0.3125 + 0.1));
  EXPECT_NEAR(step("fedexp")[1], -0.375 * eta, 1e-6);
  // m = 0.1 * mean, v = 0.01 * m^2.
  EXPECT_NEAR(step("fedadam")[1], -0.0375 / (0.1 * 0.0375 + 0.1), 1e-6);
}

TEST(ServerOptimizer, AFrozenWeightKeepsItsValueAndItsMoments) {
  ThreadPool pool(2);
  for (const std::string& name : server_optimizer_names()) {
    const auto optimizer = make_server_optimizer(options(name), parameter_count(kTwoUnits));
    std::vector<float> weights{1.25f, -3.5f, 0.125f, 7.0f};
    EXPECT_TRUE(optimizer->step(weights, round_of({0, 1}, 0.5f), {.lr = kLr}, pool));
    const std::vector<float> before = weights;
    std::vector<float> moments_before;
    for (const auto& moment : optimizer->moments()) moments_before.push_back(moment.values[0]);
    EXPECT_TRUE(optimizer->step(weights, round_of({1}, 0.5f), {.lr = kLr}, pool));
    EXPECT_EQ(weights[0], before[0]) << name;
    EXPECT_EQ(weights[2], before[2]) << name;
    EXPECT_NE(weights[1], before[1]) << name;
    size_t index = 0;
    for (const auto& moment : optimizer->moments())
      EXPECT_EQ(moment.values[0], moments_before[index++]) << name;
  }
}

TEST(ServerOptimizer, AZeroUpdateFromTheStartChangesNoBit) {
  ThreadPool pool(1);
  for (const std::string& name : server_optimizer_names()) {
    const auto optimizer = make_server_optimizer(options(name), parameter_count(kTwoUnits));
    std::vector<float> weights{0.1f, -0.2f, 1e-30f, 3.0f};
    const std::vector<float> before = weights;
    EXPECT_TRUE(optimizer->step(weights, round_of({0, 1}, 0.0f), {.lr = kLr}, pool));
    EXPECT_EQ(weights, before) << name;
  }
}

TEST(ServerOptimizer, EachRoundHasItsOwnRate) {
  ThreadPool pool(1);
  for (const std::string& name : server_optimizer_names()) {
    const auto moved = [&](double first_lr, double second_lr) {
      const auto optimizer = make_server_optimizer(options(name), parameter_count(kTwoUnits));
      std::vector<float> weights(parameter_count(kTwoUnits), 0.0f);
      EXPECT_TRUE(optimizer->step(weights, round_of({0, 1}, 0.5f), {.lr = first_lr}, pool));
      const float first = weights[0];
      EXPECT_TRUE(optimizer->step(weights, round_of({0, 1}, 0.25f), {.lr = second_lr}, pool));
      return std::pair(first, weights[0] - first);
    };
    EXPECT_NEAR(moved(0.2, 0.1).first, 2 * moved(0.1, 0.1).first, 1e-6) << name;
    EXPECT_NEAR(moved(0.1, 0.3).second, 3 * moved(0.1, 0.1).second, 1e-6) << name;
    const double standard = default_server_lr(name);
    EXPECT_EQ(moved(0, 0), moved(standard, standard)) << name;
  }
}

TEST(ServerOptimizer, TellsWhenAWeightIsNoLongerFinite) {
  ThreadPool pool(2);
  for (const std::string& name : server_optimizer_names()) {
    std::vector<float> weights{0.1f, -0.2f, 0.0f, 3.0f};
    const auto optimizer = make_server_optimizer(options(name), weights.size());
    EXPECT_FALSE(optimizer->step(weights, round_of({1}, 0.5f), {.lr = 1e39}, pool)) << name;
  }
}

// The step by its definition, one weight at a time, in double; more weights than a vector or a range holds.
TEST(ServerOptimizer, FedAdamOnManyWeightsIsItsDefinition) {
  const ModelSpec model{
      "many", {300, 1, 1}, {{.type = "dense", .name = "d", .units = 500, .droppable = true}}};
  PartialSum sum(parameter_count(model));
  Random random({.seed = 8});
  for (const uint32_t examples : {3u, 10u, 1u}) {
    std::vector<uint32_t> units;
    for (uint32_t unit = 0; unit < 500; ++unit) {
      if (random.below(3) == 0) units.push_back(unit);
    }
    const SubModel held(model, std::vector<std::vector<uint32_t>>{units});
    std::vector<float> update(held.size());
    for (float& value : update) value = static_cast<float>(random.normal() * 0.01);
    ASSERT_TRUE(sum.add(held, update, examples));
  }
  ThreadPool pool(2);
  const OptimizerOptions given = options("fedadam");
  const auto optimizer = make_server_optimizer(given, sum.size());
  std::vector<float> weights(sum.size(), 0.25f), expected = weights, m(sum.size()), v(sum.size());
  size_t unheld = 0;
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(optimizer->step(weights, sum, {.lr = given.lr}, pool));
    for (size_t i = 0; i < sum.size(); ++i) {
      if (!sum.held(i)) {
        ++unheld;
        continue;
      }
      const double next_m = given.beta1 * double{m[i]} + (1 - given.beta1) * sum.mean(i);
      const double next_v = given.beta2 * double{v[i]} + (1 - given.beta2) * (next_m * next_m);
      m[i] = static_cast<float>(next_m);
      v[i] = static_cast<float>(next_v);
      expected[i] =
          static_cast<float>(double{expected[i]} + given.lr * next_m / (std::sqrt(next_v) + given.tau));
    }
  }
  EXPECT_GT(unheld, 0u);
  EXPECT_EQ(weights, expected);
}

TEST(ServerOptimizer, UnknownNamesAreErrorsAndDefaultsAreTheOptimizersOwn) {
  EXPECT_THROW(make_server_optimizer({.optimizer = "adam"}, 4), Error);
  EXPECT_EQ(default_server_lr("fedavg"), 1.0);
  EXPECT_EQ(default_server_lr("fedadam"), 0.01);
}

// After t rounds the mean counts each round `decay` times what it counts the next one.
TEST(ServerOptimizer, KeepsTheExponentialMeanOfItsWeights) {
  constexpr double kDecay = 0.6;
  ThreadPool pool(1);
  for (const std::string& name : server_optimizer_names()) {
    OptimizerOptions plain = options(name);
    plain.average = kDecay;
    const auto averaged = make_server_optimizer(plain, parameter_count(kTwoUnits));
    const auto other = make_server_optimizer(options(name), parameter_count(kTwoUnits));
    std::vector<float> weights(parameter_count(kTwoUnits), 0.0f), expected = weights;
    const std::vector<JobResult> results{{.outcome = JobOutcome::kTrained, .examples = 3, .squared_norm = 2}};
    double mean = 0, sum = 0;
    for (uint32_t round = 1; round <= 5; ++round) {
      const PartialSum updates = round_of({0, 1}, round == 2 ? -0.5f : 1.0f);
      const double keep = kept_average(kDecay, round);
      EXPECT_TRUE(
          averaged->step(weights, updates, {.lr = kLr, .keep_average = keep, .results = results}, pool));
      EXPECT_TRUE(other->step(expected, updates, {.lr = kLr, .results = results}, pool));
      EXPECT_EQ(weights, expected) << name << ": the mean changes nothing of the steps";
      mean = kDecay * mean + static_cast<double>(weights[0]);
      sum = kDecay * sum + 1;
      ASSERT_EQ(averaged->moments().front().name, kAverage);
      EXPECT_NEAR(averaged->moments().front().values[0], mean / sum, 1e-6) << name << " " << round;
    }
    EXPECT_EQ(averaged->moments().size(), other->moments().size() + 1);
  }
}

}  // namespace
}  // namespace subfleet
