#include "subfleet/search/search_folder.h"

#include <gtest/gtest.h>

#include "subfleet/base/file.h"
#include "subfleet/error.h"
#include "subfleet/safetensors.h"
#include "subfleet/store/run_writer.h"
#include "subfleet/store/session.h"
#include "temporary_folder.h"
#include "tiny_search.h"

namespace subfleet {
namespace {

TEST(SearchFolder, BeginsOnceAndIsTakenUpAgain) {
  const TemporaryFolder folder;
  {
    const SearchFolder search = SearchFolder::begin(folder / "s", tiny_search(), std::nullopt);
    EXPECT_THROW(SearchFolder::reopen(folder / "s"), Error) << "it is locked";
  }
  EXPECT_THROW(SearchFolder::begin(folder / "s", tiny_search(), std::nullopt), Error);
  EXPECT_THROW(SearchFolder::reopen(folder / "none"), Error);
  const SearchFolder again = SearchFolder::reopen(folder / "s");
  EXPECT_EQ(again.config().tune.max_rounds, tiny_search().tune.max_rounds);
  EXPECT_FALSE(again.provenance());
  EXPECT_FALSE(again.initial_weights(resolve_model(tiny_search().model)));
}

TEST(SearchFolder, IsNoFolderWithOtherThingsInIt) {
  const TemporaryFolder folder;
  write_file(folder / "letter.txt", "dear");
  EXPECT_THROW(SearchFolder::begin(folder.path(), tiny_search(), std::nullopt), Error);
}

TEST(SearchFolder, KeepsTheWeightsThatItBeganWith) {
  const TemporaryFolder folder;
  const ModelSpec model = resolve_model(tiny_search().model);
  ThreadPool pool(1);
  LocalFleet fleet = tiny_fleet(pool);
  subfleet::Run run(tiny_search(), fleet);
  run.step();
  const std::vector<float> weights(run.weights().begin(), run.weights().end());
  save_safetensors(folder / "w", named_weights(model, weights), {});
  const SearchFolder search = SearchFolder::begin(folder / "s", tiny_search(), folder / "w");
  std::filesystem::remove(folder / "w");
  EXPECT_EQ(search.initial_weights(model), weights);
}

TEST(SearchFolder, PromotesTheWinnerOnce) {
  const TemporaryFolder folder;
  ThreadPool pool(1);
  LocalFleet fleet = tiny_fleet(pool);
  RateSearch search(make_search_plan(tiny_search(), fleet.classes()));
  std::vector<CandidateRound> rounds(search.running().size(), {.accuracy = 0.01, .loss = 1, .bytes = 1});
  rounds[0].accuracy = 1;
  while (!search.running().empty()) {
    rounds.resize(search.running().size(), {.accuracy = 0.01, .loss = 1, .bytes = 1});
    search.record(rounds);
    rounds.clear();
  }
  const Candidate best = search.candidates()[search.best().value()];
  const SearchFolder saved = SearchFolder::begin(folder / "s", tiny_search(), std::nullopt);
  {
    const subfleet::Run run(tiny_search(), fleet);
    RunWriter::begin(saved.candidate(best.value), run, provenance_now(run.config(), fleet, {}));
  }
  ASSERT_TRUE(saved.provenance());
  saved.promote(search);
  EXPECT_TRUE(RunWriter::can_go_on(folder / "s"));
  EXPECT_FALSE(RunWriter::can_go_on(saved.candidate(best.value)));
  saved.promote(search);
  EXPECT_TRUE(RunWriter::can_go_on(folder / "s"));
}

}  // namespace
}  // namespace subfleet
