// A search in memory finds what the candidates' runs, one by one, say.

#include "search/memory_search.h"

#include <gtest/gtest.h>

#include <cmath>

#include "subfleet/search/candidate_runs.h"
#include "tiny_search.h"

namespace subfleet {
namespace {

// The rounds that a run alone takes to a mean of two median accuracies of 10 %.
std::optional<uint32_t> rounds_alone(const Config& config, Fleet& fleet) {
  Run run(config, fleet);
  double before = 0;
  for (uint32_t round = 1; round <= config.tune.max_rounds; ++round) {
    const double now = run.step().train_accuracy_median;
    if (round >= 2 && (before + now) / 2 >= 0.1) return round;
    before = now;
  }
  return std::nullopt;
}

TEST(MemorySearch, CandidatesHaveTheRoundsOfRunsAlone) {
  ThreadPool pool(2);
  LocalFleet fleet = tiny_fleet(pool, "cpu");
  const Config config = tiny_search();
  // Beside another one, of which it does not know.
  std::vector<MemorySearch> searches(2, {config, RateSearch(make_search_plan(config, fleet.classes()))});
  searches[1].config.run.seed = 7;
  ASSERT_TRUE(search_in_memory(searches, fleet, [](const CandidatesStand&) { return true; }));
  EXPECT_NE(searches[1].search.outcome(), RateSearch::Outcome::kSearching);
  const RateSearch& search = searches[0].search;
  ASSERT_NE(search.outcome(), RateSearch::Outcome::kSearching);
  size_t reached = 0;
  for (size_t i = 0; i < search.candidates().size(); ++i) {
    const Candidate& candidate = search.candidates()[i];
    if (candidate.fate != Fate::kReached) continue;
    EXPECT_EQ(rounds_alone(candidate_config(config, search, i), fleet), candidate.round_count())
        << candidate.value;
    ++reached;
  }
  EXPECT_GT(reached, 0u);
}

TEST(MemorySearch, RoundsByValueAbandonsNobody) {
  ThreadPool pool(2);
  LocalFleet fleet = tiny_fleet(pool, "cpu");
  const Config config = tiny_search();
  const std::vector<double> values{0.0001, 0.003, 0.005, 0.01, 0.02, 0.05};
  std::vector<MemorySearch> searches;
  for (const double value : values) searches.push_back(search_of_one(config, value, fleet.classes()));
  ASSERT_TRUE(search_in_memory(searches, fleet, [](const CandidatesStand&) { return true; }));
  std::optional<uint32_t> fastest, slowest;
  for (size_t i = 0; i < values.size(); ++i) {
    Config own = config;
    own.server.lr = values[i];
    const auto rounds = rounds_to_target(searches[i].search);
    EXPECT_EQ(rounds, rounds_alone(own, fleet)) << values[i];
    if (!rounds) continue;
    fastest = std::min(fastest.value_or(100), *rounds);
    slowest = std::max(slowest.value_or(0), *rounds);
  }
  EXPECT_LT(fastest, slowest) << "the slower one was not stopped";
  searches.assign(1, search_of_one(config, 0.0001, fleet.classes()));
  EXPECT_FALSE(search_in_memory(searches, fleet, [](const CandidatesStand&) { return false; }));
}

}  // namespace
}  // namespace subfleet
