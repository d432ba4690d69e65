#include "nn/cuda/state.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <tuple>

#include "nn/cuda/gpu_testing.h"
#include "nn/host_state.h"
#include "subfleet/error.h"
#include "subfleet/random.h"
#include "subfleet/thread_pool.h"

namespace subfleet::cuda {
namespace {

// More weights than one range of the norm's summation, and no multiple of anything.
const ModelSpec kSome{"some", {300, 1, 1}, {{.type = "dense", .name = "d", .units = 501, .droppable = true}}};

std::vector<uint32_t> bits_of(std::span<const float> values) {
  std::vector<uint32_t> bits;
  for (const float value : values) bits.push_back(std::bit_cast<uint32_t>(value));
  return bits;
}

void expect_same_bits(ServerState& state, ServerState& expected, const std::string& when) {
  EXPECT_EQ(bits_of(state.weights()), bits_of(expected.weights())) << when;
  EXPECT_EQ(bits_of(state.tested_weights()), bits_of(expected.tested_weights())) << when;
  const auto moments = state.moments(), expected_moments = expected.moments();
  ASSERT_EQ(moments.size(), expected_moments.size()) << when;
  for (size_t i = 0; i < moments.size(); ++i) {
    EXPECT_EQ(moments[i].name, expected_moments[i].name) << when;
    EXPECT_EQ(bits_of(moments[i].values), bits_of(expected_moments[i].values)) << when << moments[i].name;
  }
}

std::vector<float> random_values(size_t count, Random& random) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.normal() * 0.1);
  return values;
}

// Sums of any size, down to single units, and a weight in three that nobody held.
void fill(PartialSum& sum, uint64_t seed) {
  Random random({.seed = seed});
  sum.set_examples(1000);
  for (size_t i = 0; i < sum.size(); ++i) {
    const uint32_t holders = random.below(3) == 0 ? 0 : 1 + random.below(1000);
    const double size = std::exp2(static_cast<double>(random.below(40)));
    sum.holders()[i] = holders;
    sum.sums()[i] = holders == 0 ? 0 : std::llround(random.normal() * size);
  }
}

const std::vector<JobResult> kTwoResults{
    {.outcome = JobOutcome::kTrained, .examples = 400, .squared_norm = 3.7},
    {.outcome = JobOutcome::kTrained, .examples = 600, .squared_norm = 411.9}};

TEST(CudaState, StepsHaveTheBitsOfTheHosts) {
  SUBFLEET_SKIP_WITHOUT_GPU();
  const Stream stream;
  ThreadPool pool(2);
  for (const std::string& name : server_optimizer_names()) {
    for (const auto& [unheld, mean, average] :
         {std::tuple{"freeze", "holders", 0.0}, {"decay", "holders", 0.9}, {"freeze", "all", 0.9}}) {
      const OptimizerOptions options{
          .optimizer = name, .tau = 1e-3, .mean = mean, .unheld = unheld, .average = average};
      CudaState state(kSome, options, stream);
      HostState expected(kSome, options, pool);
      Random random({.seed = 5});
      const std::vector<float> weights = random_values(state.size(), random);
      expect_same_bits(state, expected, fmt::format("{}, {}, {}, at the start", name, unheld, mean));
      state.set_weights(weights);
      expected.set_weights(weights);
      for (uint64_t round = 1; round <= 3; ++round) {
        for (ServerState* each : {static_cast<ServerState*>(&state), static_cast<ServerState*>(&expected)}) {
          each->clear_sum();
          each->with_sum([&](PartialSum& sum) { fill(sum, round); });
          EXPECT_TRUE(each->step({.lr = 0.01 * static_cast<double>(round),
                                  .keep_average = kept_average(average, static_cast<uint32_t>(round)),
                                  .results = kTwoResults}));
        }
        expect_same_bits(state, expected, fmt::format("{}, {}, {}, step {}", name, unheld, mean, round));
      }
    }
  }
}

TEST(CudaState, MomentsAreWhatWasSet) {
  SUBFLEET_SKIP_WITHOUT_GPU();
  const Stream stream;
  CudaState state(kSome, {.optimizer = "fedadam"}, stream);
  Random random({.seed = 6});
  const std::vector<std::vector<float>> given{random_values(state.size(), random),
                                              random_values(state.size(), random)};
  state.set_moments(given);
  const auto moments = state.moments();
  ASSERT_EQ(moments.size(), 2u);
  EXPECT_EQ(moments[0].name, "m");
  EXPECT_EQ(moments[1].name, "v");
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(bits_of(moments[i].values), bits_of(given[i]));
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(CudaState, WrongSizesAreTheHostsErrors) {
  SUBFLEET_SKIP_WITHOUT_GPU();
  const Stream stream;
  ThreadPool pool(1);
  CudaState state(kSome, {.optimizer = "fedadam"}, stream);
  HostState host(kSome, {.optimizer = "fedadam"}, pool);
  const auto expect_same_error = [&](const std::function<void(ServerState&)>& call) {
    const std::string expected = error_of([&] { call(host); });
    EXPECT_NE(expected, "no error");
    EXPECT_EQ(error_of([&] { call(state); }), expected);
  };
  const std::vector<float> right(state.size()), wrong(3);
  const std::vector<std::vector<float>> too_few{right}, too_short{right, wrong};
  expect_same_error([&](ServerState& any) { any.set_weights(wrong); });
  expect_same_error([&](ServerState& any) { any.set_moments(too_few); });
  expect_same_error([&](ServerState& any) { any.set_moments(too_short); });
  EXPECT_THROW(state.add_examples(PartialSum::kMostExamples), Error);
  EXPECT_THROW(state.with_sum([](PartialSum& sum) { sum = PartialSum(2); }), Error);
  EXPECT_THROW(CudaState(kSome, {.optimizer = "fedadman"}, stream), Error);
}

TEST(CudaState, TheSumIsWhatTheHostPutThereUntilItIsCleared) {
  SUBFLEET_SKIP_WITHOUT_GPU();
  const Stream stream;
  CudaState state(kSome, {.optimizer = "fedavg"}, stream);
  PartialSum expected(state.size());
  const auto expect_sum = [&] { state.with_sum([&](PartialSum& sum) { EXPECT_TRUE(sum == expected); }); };
  expect_sum();
  fill(expected, 9);
  state.with_sum([&](PartialSum& sum) { sum = expected; });
  expect_sum();
  state.add_examples(7);
  expected.set_examples(expected.examples() + 7);
  expect_sum();
  state.clear_sum();
  expected.clear();
  expect_sum();
}

TEST(CudaState, TellsWhenAWeightIsNoLongerFinite) {
  SUBFLEET_SKIP_WITHOUT_GPU();
  const Stream stream;
  for (const std::string& name : server_optimizer_names()) {
    CudaState state(kSome, {.optimizer = name}, stream);
    state.with_sum([](PartialSum& sum) {
      sum.set_examples(1);
      sum.holders()[70000] = 1;
      sum.sums()[70000] = int64_t{1} << 36;
    });
    EXPECT_FALSE(state.step({.lr = 1e39, .results = kTwoResults})) << name;
    EXPECT_FALSE(std::isfinite(state.weights()[70000])) << name;
    EXPECT_EQ(state.weights()[70001], 0.0f) << name;
  }
}

}  // namespace
}  // namespace subfleet::cuda
