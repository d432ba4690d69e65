#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "subfleet/rate_search.h"

namespace subfleet {
namespace {

constexpr SearchPlan kPlan{
    .start = 0.01, .delta = 1, .outward = 4, .window = 5, .guess_loss = 4, .low = 0, .high = 1e6, .horizon = 400};

// A made-up training: the loss at the end of a probe of that length with that rate, in log10.
using LossOf = std::function<double(double log10, uint32_t length)>;

ProbeSearch searched(const LossOf& loss_of, const SearchPlan& plan = kPlan) {
  ProbeSearch search(plan);
  while (!search.running().empty()) {
    std::vector<CandidateRound> rounds;
    for (const size_t index : search.running()) {
      const Candidate& probe = search.candidates()[index];
      const double end = loss_of(std::log10(probe.value), probe.length);
      // Anything before the last quarter: it must not count.
      const bool early = probe.round_count() < probe.length - (probe.length + 3) / 4;
      rounds.push_back({.accuracy = 0.1, .loss = early ? 3.0 + probe.value : end, .bytes = 10});
    }
    search.record(rounds);
  }
  return search;
}

// The best rate falls with the fourth root of the length, and is 10^at for 400 rounds.
LossOf falling(double at) {
  return [=](double log10, uint32_t length) {
    const double best = at + std::log10(400.0 / length) / 4;
    return 0.5 + (log10 - best) * (log10 - best);
  };
}

TEST(ProbeSearch, FindsTheRateThatEndsBest) {
  for (const double at : {-3.1, -2.3, -2.0, -1.6, -1.2, 0.0}) {
    const ProbeSearch search = searched(falling(at));
    ASSERT_EQ(search.outcome(), RateSearch::Outcome::kFound) << at;
    EXPECT_NEAR(std::log10(search.chosen()), at, 0.02) << at;
    const Candidate& best = search.candidates()[*search.best()];
    EXPECT_EQ(best.length, 40u);
    EXPECT_NEAR(std::log10(best.value), at + 0.25, 0.13) << at;
  }
}

TEST(ProbeSearch, CostsHalfARunAtMostWhereTheStartIsNotFarOff) {
  for (const double at : {-2.5, -2.1, -1.7}) {
    const ProbeSearch search = searched(falling(at));
    EXPECT_LE(search.cost().rounds, 200u) << at;
    EXPECT_EQ(search.cost().rounds, search.cost().formula) << at;
  }
}

// Rates that are too high are lost: they say that the best is lower, not where it is.
TEST(ProbeSearch, LostProbesPointDown) {
  const LossOf smooth = falling(-2);
  const ProbeSearch search = searched([&](double log10, uint32_t length) {
    return log10 > -1.55 ? std::numeric_limits<double>::quiet_NaN() : smooth(log10, length);
  });
  ASSERT_EQ(search.outcome(), RateSearch::Outcome::kFound);
  EXPECT_NEAR(std::log10(search.chosen()), -2, 0.25);
  EXPECT_TRUE(std::ranges::any_of(search.candidates(), &Candidate::lost));
}

TEST(ProbeSearch, MovesDownUntilSomethingTrains) {
  const ProbeSearch search = searched([&](double log10, uint32_t) {
    return log10 > -3.2 ? std::numeric_limits<double>::quiet_NaN() : 1 - 0.1 * log10;
  });
  ASSERT_EQ(search.outcome(), RateSearch::Outcome::kFound);
  EXPECT_LT(std::log10(search.chosen()), -3.2);
}

TEST(ProbeSearch, SaysSoIfEverythingIsLost) {
  const ProbeSearch search =
      searched([&](double, uint32_t) { return std::numeric_limits<double>::quiet_NaN(); });
  EXPECT_EQ(search.outcome(), RateSearch::Outcome::kAllLost);
}

// Told the same rounds again, as after kill -9, it comes to the same.
TEST(ProbeSearch, DependsOnTheRoundsAlone) {
  const ProbeSearch first = searched(falling(-1.9)), second = searched(falling(-1.9));
  EXPECT_EQ(first.chosen(), second.chosen());
  EXPECT_EQ(first.candidates().size(), second.candidates().size());
}

}  // namespace
}  // namespace subfleet
