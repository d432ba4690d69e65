#include "subfleet/reproduce/measures.h"

#include <gtest/gtest.h>

#include "subfleet/error.h"

namespace subfleet {
namespace {

// Two runs with two seeds each.
SweepPlan two_runs() {
  SweepPlan plan;
  plan.seeds = {1, 2};
  for (const char* name : {"a", "b"}) plan.runs.push_back({.name = name, .slug = name, .config = {}});
  return plan;
}

ExpectedValue value_of(const std::string& measure, std::optional<double> at = std::nullopt) {
  ExpectedValue value;
  value.measure = measure;
  value.run = "a";
  value.of = "b";
  value.at = at;
  return value;
}

// A test every round, of so many bytes each.
SeedResult learning(uint64_t seed, uint64_t bytes, const std::vector<double>& accuracies) {
  std::vector<RoundRecord> log;
  for (const double accuracy : accuracies) {
    log.push_back(
        {.round = static_cast<uint32_t>(log.size() + 1), .bytes_up = bytes, .test_accuracy = accuracy});
  }
  SeedResult result;
  result.seed = seed;
  result.tests = tests_of(log);
  result.accuracy = accuracies.back();
  return result;
}

TEST(Measures, CompareRunsOfTheSameSeed) {
  const SweepPlan plan = two_runs();
  Measured measured;
  measured.plan = &plan;
  measured.results.runs.resize(2);
  measured.results.runs[0].seeds = {learning(1, 10, {0.1, 0.1, 0.1, 0.1, 0.1, 0.5}),
                                    learning(2, 10, {0.2, 0.2, 0.2, 0.2, 0.2, 0.8})};
  measured.results.runs[1].seeds = {learning(2, 30, {0.2, 0.2, 0.2, 0.2, 0.2, 0.4})};
  measured.results.runs[0].bytes_per_round = 10;
  measured.results.runs[1].bytes_per_round = 40;
  const auto of = [&](const std::string& name) {
    return measure(value_of(name), ExperimentKind::kRuns, measured);
  };
  EXPECT_NEAR(of("accuracy")->mean, 65, 1e-9);
  EXPECT_EQ(of("accuracy")->count, 2u);
  EXPECT_NEAR(of("accuracy difference")->mean, 40, 1e-9);
  EXPECT_NEAR(of("accuracy ratio")->mean, 200, 1e-9);
  EXPECT_NEAR(of("bytes per round saved")->mean, 75, 1e-9);
  // The highest mean of five tests that both reach is b's last, 0.24; both reach it with their sixth test.
  EXPECT_NEAR(of("times fewer bytes")->mean, 3, 1e-9);
  EXPECT_THROW(of("share"), Error);
}

TEST(Measures, ARunTestedOnceIsComparedByTheLastTests) {
  const SweepPlan plan = two_runs();
  Measured measured;
  measured.plan = &plan;
  measured.results.runs.resize(2);
  SeedResult diverged = learning(2, 10, {0.9});
  diverged.diverged = true;
  diverged.accuracy.reset();
  measured.results.runs[0].seeds = {learning(1, 60, {0.5}), diverged};
  measured.results.runs[1].seeds = {learning(1, 10, {0.1, 0.1, 0.1, 0.1, 0.2, 0.4}), learning(2, 10, {0.6})};
  measured.results.runs[1].seeds[0].accuracy = 0.3;
  const auto of = [&](const std::string& name) {
    return measure(value_of(name), ExperimentKind::kRuns, measured);
  };
  EXPECT_NEAR(of("last test")->mean, 50, 1e-9);
  EXPECT_EQ(of("last test")->count, 1u) << "what diverged has none";
  EXPECT_NEAR(of("last test difference")->mean, (10.0 - 60.0) / 2, 1e-9) << "what diverged is at 0";
  EXPECT_NEAR(of("accuracy difference")->mean, (20.0 - 60.0) / 2, 1e-9);
  EXPECT_FALSE(of("times fewer bytes")) << "five tests say when a run reaches an accuracy";
}

TEST(Measures, OfSearches) {
  const SweepPlan plan = two_runs();
  Measured measured;
  measured.plan = &plan;
  const FinishedSearch fast{.log10 = -2, .rounds = 10, .extra_rounds = 60},
      slow{.log10 = -1.5, .rounds = 30, .extra_rounds = 180};
  measured.searches = {{fast, FinishedSearch{}}, {slow, slow}};
  const auto of = [&](const ExpectedValue& value) {
    return measure(value, ExperimentKind::kSearches, measured);
  };
  EXPECT_NEAR(of(value_of("share", -2.0))->mean, 50, 1e-9) << "a search that finds nothing counts";
  EXPECT_NEAR(of(value_of("share", -1.0))->mean, 0, 1e-9);
  EXPECT_NEAR(of(value_of("speed-up"))->mean, 3, 1e-9);
  EXPECT_EQ(of(value_of("extra rounds"))->count, 1u);
}

TEST(Measures, OfRates) {
  const SweepPlan plan = two_runs();
  Measured measured;
  measured.plan = &plan;
  measured.rates = {{RateRounds{{-2, 20}, {-1, std::nullopt}}, RateRounds{{-2, 30}, {-1, 10}}},
                    {RateRounds{{-2, 5}, {-1, 10}}, RateRounds{{-2, std::nullopt}, {-1, std::nullopt}}}};
  const auto of = [&](const ExpectedValue& value) {
    return measure(value, ExperimentKind::kRates, measured);
  };
  EXPECT_NEAR(of(value_of("rounds", -2))->mean, 25, 1e-9);
  EXPECT_EQ(of(value_of("rounds", -1))->count, 1u);
  EXPECT_NEAR(of(value_of("fastest rate"))->mean, -1.5, 1e-9);
  EXPECT_NEAR(of(value_of("fastest rate difference"))->mean, 0, 1e-9);
  EXPECT_NEAR(of(value_of("fewest rounds ratio"))->mean, 4, 1e-9);
  EXPECT_EQ(of(value_of("fewest rounds ratio"))->count, 1u) << "b reaches nothing with the second seed";
}

TEST(Measures, AClaimIsMetWithinTheIntervalAndTheLastDigit) {
  const Estimate ours{.mean = 83.87, .interval = 0.1, .count = 5};
  const auto compared = [](const Claim& claim, const std::optional<Estimate>& with) {
    ExpectedValue value = value_of("accuracy");
    value.paper = claim;
    return compare(value, with);
  };
  const auto verdict = [&](const char* claim) { return compared(parse_claim(claim), ours); };
  EXPECT_EQ(verdict("83.8"), Verdict::kAgrees);
  EXPECT_EQ(verdict("84.0"), Verdict::kAgrees);
  EXPECT_EQ(verdict("84.1"), Verdict::kDiffers);
  EXPECT_EQ(verdict("> 83.7"), Verdict::kAgrees);
  EXPECT_EQ(verdict(">83.8"), Verdict::kDiffers) << "it is not sure";
  EXPECT_EQ(verdict("< 84"), Verdict::kAgrees);
  EXPECT_EQ(compared({}, ours), Verdict::kNothingToCompare);
  EXPECT_EQ(compared(parse_claim("1"), std::nullopt), Verdict::kNothingToCompare);
  EXPECT_EQ(compared(parse_claim("33"), Estimate{32, std::nullopt, 1}), Verdict::kDiffers);
  EXPECT_THROW(parse_claim("about 3"), Error);
}

TEST(Measures, SharesOfFewSearchesAgreeUnlessTheyAreFarApart) {
  ExpectedValue value = value_of("share");
  value.paper = parse_claim("50");
  const auto verdict = [&](double share, size_t count) {
    return compare(value, Estimate{share, std::nullopt, count});
  };
  EXPECT_EQ(verdict(10, 10), Verdict::kAgrees);
  EXPECT_EQ(verdict(0, 10), Verdict::kDiffers);
  EXPECT_EQ(verdict(10, 100), Verdict::kDiffers) << "which is sure with more of them";
  EXPECT_EQ(verdict(100, 3), Verdict::kAgrees);
  value.paper_trials = 100;
  EXPECT_EQ(verdict(10, 10), Verdict::kDiffers);
}

}  // namespace
}  // namespace subfleet
