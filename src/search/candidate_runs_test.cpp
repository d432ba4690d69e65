#include "subfleet/search/candidate_runs.h"

#include <gtest/gtest.h>

#include "subfleet/error.h"
#include "subfleet/store/session.h"
#include "temporary_folder.h"
#include "tiny_search.h"

namespace subfleet {
namespace {

// Accuracies of a step's candidates, so many rounds of each.
std::vector<std::vector<double>> rounds_of(CandidateRuns& runs, RateSearch& search, uint32_t rounds) {
  std::vector<std::vector<double>> all(search.running().size());
  for (uint32_t round = 0; round < rounds; ++round) {
    const std::vector<CandidateRound> one = runs.next_round(search);
    for (size_t i = 0; i < one.size(); ++i) all[i].push_back(one[i].accuracy);
    search.record(one);
    runs.settle(search);
  }
  return all;
}

// A search for what no candidate reaches, so that all of them run on.
Config long_search() {
  Config config = tiny_search();
  config.tune.target.value = 1;
  return config;
}

struct Site {
  ThreadPool pool{2};
  LocalFleet fleet = tiny_fleet(pool);
  Provenance now = provenance_now(long_search(), fleet, {.device = "reference", .threads = 2});

  RateSearch search() const { return RateSearch(make_search_plan(long_search(), fleet.classes())); }
};

TEST(CandidateRuns, HaveDrawsAndValuesOfTheirOwn) {
  const Site site;
  const RateSearch search = site.search();
  ASSERT_EQ(search.candidates().size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const Config own = candidate_config(long_search(), search, i);
    EXPECT_EQ(own.server.lr, search.candidates()[i].value);
    EXPECT_EQ(own.run.first_draw, i * kDrawsApart);
  }
}

TEST(CandidateRuns, HaveTheRoundsOfRunsAlone) {
  const TemporaryFolder folder;
  Site site;
  const Config config = long_search();
  const SearchFolder saved = SearchFolder::begin(folder / "s", config, std::nullopt);
  RateSearch search = site.search();
  CandidateRuns runs(config, saved, site.fleet, site.now);
  const auto together = rounds_of(runs, search, 3);
  for (size_t i = 0; i < together.size(); ++i) {
    subfleet::Run alone(candidate_config(config, search, i), site.fleet);
    for (const double accuracy : together[i]) EXPECT_EQ(alone.step().train_accuracy_median, accuracy);
  }
}

TEST(CandidateRuns, TellTheSameRoundsAfterABreak) {
  const TemporaryFolder folder;
  Site site;
  const Config config = long_search();
  const SearchFolder saved = SearchFolder::begin(folder / "s", config, std::nullopt);
  std::vector<std::vector<double>> before;
  {
    RateSearch search = site.search();
    CandidateRuns runs(config, saved, site.fleet, site.now);
    before = rounds_of(runs, search, 3);  // the last checkpoint is that of round 2
  }
  RateSearch search = site.search();
  CandidateRuns runs(config, saved, site.fleet, site.now);
  EXPECT_EQ(rounds_of(runs, search, 3), before);
  runs.checkpoint();
  EXPECT_EQ(RunWriter::log(saved.candidate(search.candidates()[0].value)).size(), 3u);
}

TEST(CandidateRuns, SayThatACheckpointIsGone) {
  const TemporaryFolder folder;
  Site site;
  const Config config = long_search();
  const SearchFolder saved = SearchFolder::begin(folder / "s", config, std::nullopt);
  {
    RateSearch search = site.search();
    CandidateRuns runs(config, saved, site.fleet, site.now);
    rounds_of(runs, search, 2);
  }
  RateSearch search = site.search();
  RunWriter::give_up(saved.candidate(search.candidates()[0].value));
  CandidateRuns runs(config, saved, site.fleet, site.now);
  try {
    rounds_of(runs, search, 3);
    FAIL() << "went on without a checkpoint";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("checkpoint"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace subfleet
