#include "subfleet/work/search_session.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "subfleet/base/file.h"
#include "subfleet/error.h"
#include "subfleet/search/search_report.h"
#include "subfleet/store/session.h"
#include "temporary_folder.h"
#include "tiny_search.h"

namespace subfleet {
namespace {

struct Site {
  ThreadPool pool{2};
  LocalFleet fleet = tiny_fleet(pool, "cpu");
  Provenance now = provenance_now(tiny_search(), fleet, {.device = "cpu", .threads = 2});
};

class Recorder final : public SearchObserver {
 public:
  void on_step(const RateSearch& search) override { steps.push_back(search.steps().size()); }
  void on_round(const RateSearch&, std::span<const size_t> running, double) override {
    EXPECT_FALSE(running.empty());
    ++rounds;
  }
  std::vector<size_t> steps;
  size_t rounds = 0;
};

bool never() { return false; }

TEST(SearchSession, FindsWhatAStoppedOneFindsLater) {
  const TemporaryFolder folder;
  Site site;
  SearchSession whole(tiny_search(), site.fleet, site.now);
  whole.begin(folder / "whole");
  Recorder seen;
  EXPECT_TRUE(whole.run(seen, never));
  ASSERT_EQ(whole.search().outcome(), RateSearch::Outcome::kFound);
  EXPECT_EQ(seen.steps.size(), whole.search().steps().size());
  {
    SearchSession first(tiny_search(), site.fleet, site.now);
    first.begin(folder / "s");
    Recorder some;
    EXPECT_FALSE(first.run(some, [&] { return some.rounds == 3; }));
    EXPECT_EQ(first.search().outcome(), RateSearch::Outcome::kSearching);
  }
  SearchFolder saved = SearchFolder::reopen(folder / "s");
  SearchSession second(saved.config(), site.fleet, site.now);
  second.resume(std::move(saved));
  EXPECT_TRUE(second.run(seen, never));
  EXPECT_EQ(read_file(folder / "s" / "tune.json"), read_file(folder / "whole" / "tune.json"));
  EXPECT_EQ(read_file(folder / "s" / "tune.json"), search_json(second.search(), second.config()));
  EXPECT_FALSE(read_file(folder / "s" / SearchFolder::kPicture).empty());
}

TEST(SearchSession, TheWinnerGoesOnInTheFolder) {
  const TemporaryFolder folder;
  Site site;
  SearchSession session(tiny_search(), site.fleet, site.now);
  session.begin(folder / "s");
  Recorder seen;
  ASSERT_TRUE(session.run(seen, never));
  const Candidate best = session.search().candidates()[session.search().best().value()];
  const auto winner = session.go_on_with_winner();
  EXPECT_EQ(winner->run().round(), best.round_count());
  EXPECT_EQ(winner->run().config().server.lr, best.value);
  EXPECT_EQ(winner->folder(), folder / "s");
  EXPECT_TRUE(winner->train({}, never));
  const Config config = winner->run().config();
  EXPECT_EQ(RunWriter::weights(folder / "s", winner->run().model()),
            weights_after(config, config.run.rounds, 1, "cpu"));
}

// Stopped at any time, in the last step too, halving comes to the same; the winner is the run of its
// settings.
TEST(SearchSession, HalvingKeepsTheWinnersRounds) {
  const TemporaryFolder folder;
  Site site;
  Config config = tiny_search();
  set(config, "tune.method", "halving");
  config.run.rounds = 32;
  config.run.checkpoint_every = 3;
  SearchSession whole(config, site.fleet, site.now);
  whole.begin(folder / "whole");
  Recorder seen;
  ASSERT_TRUE(whole.run(seen, never));
  ASSERT_EQ(whole.search().outcome(), RateSearch::Outcome::kFound);
  {
    SearchSession first(config, site.fleet, site.now);
    first.begin(folder / "s");
  }
  bool over = false;
  for (size_t sessions = 0; !over; ++sessions) {
    ASSERT_LT(sessions, 50u);
    SearchFolder saved = SearchFolder::reopen(folder / "s");
    SearchSession one(saved.config(), site.fleet, site.now);
    one.resume(std::move(saved));
    Recorder some;
    over = one.run(some, [&] { return some.rounds == sessions + 1; });
    if (!over) continue;
    EXPECT_EQ(read_file(folder / "s" / "tune.json"), read_file(folder / "whole" / "tune.json"));
    const Candidate best = one.search().candidates()[one.search().best().value()];
    const auto winner = one.go_on_with_winner();
    EXPECT_EQ(winner->run().round(), 4u);
    EXPECT_TRUE(winner->train({}, never));
    const Config made = winner->run().config();
    EXPECT_EQ(made.server.lr, best.value);
    EXPECT_EQ(made.schedules.horizon, 32u);
    EXPECT_EQ(made.run.first_draw, config.run.first_draw);
    EXPECT_DOUBLE_EQ(made.server.average, 0.75);
    ThreadPool pool(1);
    LocalFleet fleet = tiny_fleet(pool, "cpu");
    subfleet::Run run(made, fleet);
    for (uint32_t i = 0; i < 32; ++i) run.step();
    EXPECT_TRUE(std::ranges::equal(RunWriter::weights(folder / "s", run.model()), run.tested_weights()));
  }
}

// The lengths of its steps are those of the run that the search began for.
TEST(SearchSession, HalvingGoesOnForMoreRounds) {
  const TemporaryFolder folder;
  Site site;
  Config config = tiny_search();
  set(config, "tune.method", "halving");
  config.run.rounds = 32;
  {
    SearchSession first(config, site.fleet, site.now);
    first.begin(folder / "s");
    Recorder some;
    EXPECT_FALSE(first.run(some, [&] { return some.rounds == 3; }));
  }
  SearchFolder saved = SearchFolder::reopen(folder / "s");
  Config longer = saved.config();
  longer.run.rounds = 80;
  SearchSession second(longer, site.fleet, site.now);
  second.resume(std::move(saved));
  Recorder seen;
  ASSERT_TRUE(second.run(seen, never));
  EXPECT_EQ(second.go_on_with_winner()->run().round(), 4u);
}

TEST(SearchSession, GoesOnForMoreRoundsButLooksForTheSame) {
  Config saved = tiny_search();
  validate(saved);
  const Config longer = resumed_search(saved, [](Config& config) { ++config.run.rounds; });
  EXPECT_EQ(longer.run.rounds, saved.run.rounds + 1);
  try {
    resumed_search(saved, [](Config& config) { set(config, "tune.target", "0.99"); });
    FAIL() << "another target went through";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "tune.target: cannot change in a search that has begun; start a new one with --out");
  }
  EXPECT_THROW(resumed_search(saved, [](Config& config) { ++config.run.seed; }), Error);
}

TEST(SearchSession, RefusesBeforeAFolderIsMade) {
  const TemporaryFolder folder;
  Site site;
  Config many = tiny_search();
  many.round.clients = 1000;
  EXPECT_THROW(SearchSession(many, site.fleet, site.now), Error);
  EXPECT_THROW(SearchSession(tiny_search(), site.fleet, site.now, folder / "none.safetensors"), Error);
}

}  // namespace
}  // namespace subfleet
