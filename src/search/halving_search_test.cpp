#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "subfleet/rate_search.h"

namespace subfleet {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr SearchPlan kPlan{.start = 0.01,
                           .delta = 1,
                           .outward = 4,
                           .window = 5,
                           .guess_loss = 4,
                           .low = 0,
                           .high = 1e6,
                           .horizon = 400};

// A made-up training: the loss of a round with that rate, in log10.
using LossOf = std::function<double(double log10, uint32_t round)>;

HalvingSearch searched(const LossOf& loss_of) {
  HalvingSearch search(kPlan);
  while (!search.running().empty()) {
    std::vector<CandidateRound> rounds;
    for (const size_t index : search.running()) {
      const Candidate& candidate = search.candidates()[index];
      const double loss = loss_of(std::log10(candidate.value), candidate.round_count() + 1);
      rounds.push_back({.accuracy = std::isfinite(loss) ? 0.1 : kNan, .loss = loss, .bytes = 10});
    }
    search.record(rounds);
  }
  return search;
}

// Lowest at that rate in every round; only the last quarter of either stage says so.
LossOf valley(double at) {
  return [=](double log10, uint32_t round) {
    const bool late = (round > 18 && round <= 25) || round > 37;
    return late ? 0.5 + (log10 - at) * (log10 - at) : 3 - 0.1 * log10;
  };
}

TEST(HalvingSearch, FindsTheRateWithTheLowestLateLoss) {
  for (const double at : {-3.0, -2.25, -2.0, -1.75, -1.25, 0.0}) {
    const HalvingSearch search = searched(valley(at));
    ASSERT_EQ(search.outcome(), RateSearch::Outcome::kFound) << at;
    const Candidate& best = search.candidates()[*search.best()];
    EXPECT_NEAR(std::log10(best.value), at, 0.01);
    EXPECT_EQ(best.fate, Fate::kWon);
    EXPECT_EQ(best.round_count(), 50u) << "an eighth of the run";
  }
}

// What looks worse after a sixteenth may win after an eighth, if it is among the best two.
TEST(HalvingSearch, TheBestTwoMeetOnceMore) {
  const HalvingSearch search = searched([](double log10, uint32_t round) {
    const double at = round <= 25 ? -2.05 : -2.25;
    return 1 + std::abs(log10 - at);
  });
  EXPECT_NEAR(std::log10(search.candidates()[*search.best()].value), -2.25, 0.01);
  EXPECT_EQ(std::ranges::count(search.candidates(), 50u, &Candidate::round_count), 2);
}

TEST(HalvingSearch, CostsLessThanHalfARun) {
  for (const double at : {-2.5, -2.0, -1.5, -1.25}) {
    const HalvingSearch search = searched(valley(at));
    EXPECT_LE(search.cost().rounds, 200u) << at;
    EXPECT_EQ(search.cost().rounds, search.cost().formula) << at;
  }
}

TEST(HalvingSearch, WhatIsLostIsTooHigh) {
  const auto lost_above = [](double edge) {
    return searched([=](double log10, uint32_t round) {
      return log10 > edge ? (round > 2 ? kNan : 4.0) : 1 - 0.1 * log10;
    });
  };
  const HalvingSearch some = lost_above(-1.6), most = lost_above(-3.2);
  EXPECT_NEAR(std::log10(some.candidates()[*some.best()].value), -1.75, 0.01);
  EXPECT_LT(std::log10(most.candidates()[*most.best()].value), -3.2);
  EXPECT_EQ(searched([](double, uint32_t) { return kNan; }).outcome(), RateSearch::Outcome::kAllLost);
}

// Both finalists may be lost late: those that waited behind them are not.
TEST(HalvingSearch, TheNextTwoFollowIfTheBestTwoAreLost) {
  const HalvingSearch search = searched([](double log10, uint32_t round) {
    const double too_high = std::max(0.0, log10 + 1.3);
    return log10 > -1.9 && round > 30 ? kNan : 1 - 0.1 * log10 + 10 * too_high;
  });
  ASSERT_EQ(search.outcome(), RateSearch::Outcome::kFound);
  const Candidate& best = search.candidates()[*search.best()];
  EXPECT_NEAR(std::log10(best.value), -2, 0.01);
  EXPECT_EQ(best.round_count(), 50u);
  const SearchCost cost = search.cost();
  EXPECT_EQ(cost.rounds + cost.spared, cost.formula);
  EXPECT_GT(cost.spared, 0u);
}

// Told the same rounds again, as after kill -9, it comes to the same.
TEST(HalvingSearch, DependsOnTheRoundsAlone) {
  const HalvingSearch first = searched(valley(-1.9)), second = searched(valley(-1.9));
  EXPECT_EQ(first.best(), second.best());
  EXPECT_EQ(first.candidates().size(), second.candidates().size());
}

}  // namespace
}  // namespace subfleet
