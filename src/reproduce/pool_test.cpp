#include "subfleet/reproduce/pool.h"

#include <gtest/gtest.h>

#include "search/search_testing.h"
#include "subfleet/base/file.h"
#include "subfleet/error.h"
#include "subfleet/store/run_writer.h"
#include "subfleet/store/session.h"
#include "temporary_folder.h"
#include "tiny_run.h"

namespace subfleet {
namespace {

// An experiment of one run and the seeds 1 and 2, under one reading.
Experiment experiment_of(ExperimentKind kind, uint32_t members = 1) {
  Experiment experiment;
  experiment.name = "e";
  experiment.kind = kind;
  experiment.readings = {""};
  SweepPlan plan{.title = "", .seeds = {1, 2}, .baseline = std::nullopt, .last_rounds = 1, .runs = {}};
  SweepRun& run = plan.runs.emplace_back();
  run.name = run.slug = "gold";
  run.config = tiny_config();
  run.config.run.seed = 0;
  run.config.run.rounds = 1;
  run.members = members;
  experiment.plans.push_back(plan);
  return experiment;
}

// Trains a trial's run to its end.
void train_run(const Trial& trial) {
  ThreadPool pool(1);
  LocalFleet fleet = tiny_fleet(pool);
  subfleet::Run run(trial.config, fleet);
  RunWriter writer = RunWriter::begin(trial.path, run, provenance_now(trial.config, fleet, {}));
  for (uint32_t round = 0; round < trial.config.run.rounds; ++round) writer.round_done(run, run.step());
  writer.finish(run);
}

TEST(Pool, NamesPlacesBySettingsAndFindsThemAgain) {
  const TemporaryFolder folder;
  Experiment experiment = experiment_of(ExperimentKind::kRuns);
  std::vector<Trial> trials;
  {
    const Pool pool(folder.path());
    trials = pool.trials(experiment);
    ASSERT_EQ(trials.size(), 2u);
    EXPECT_NE(trials[0].path, trials[1].path);
    EXPECT_FALSE(settings_in(trials[0].path.filename().string()).empty());
    make_folder(trials[0].path);
  }
  experiment.plans[0].runs[0].name = experiment.plans[0].runs[0].slug = "silver";
  const Pool pool(folder.path());
  EXPECT_EQ(pool.trials(experiment)[0].path, trials[0].path) << "equal settings are one run";
  EXPECT_EQ(pool.trials(experiment)[1].path.filename().string().substr(0, 7), "silver-");
  experiment.plans[0].runs[0].config.code.keep = 0.25;
  EXPECT_NE(pool.trials(experiment)[0].path, trials[0].path);
  EXPECT_TRUE(pool.trials(experiment_of(ExperimentKind::kFacts)).empty());
}

TEST(Pool, KnowsWhichRunsAreMissingAndMeasuresTheOthers) {
  const TemporaryFolder folder;
  const Experiment experiment = experiment_of(ExperimentKind::kRuns);
  const Pool pool(folder.path());
  EXPECT_EQ(pool.missing(experiment).size(), 2u);
  train_run(pool.trials(experiment)[0]);
  ASSERT_EQ(pool.missing(experiment).size(), 1u);
  EXPECT_EQ(pool.missing(experiment)[0].config.run.seed, 2u);
  EXPECT_EQ(pool.trainers(experiment).size(), 1u);
}

TEST(Pool, KeepsWhatSearchesFound) {
  const TemporaryFolder folder;
  const Experiment experiment = experiment_of(ExperimentKind::kSearches);
  const Pool pool(folder.path());
  const std::vector<Trial> trials = pool.trials(experiment);
  save(trials[0], search_with(valley), "somebody");
  save(trials[1], search_with([](double) { return 0.0; }), "somebody");
  EXPECT_TRUE(pool.missing(experiment).empty());
  const Measured measured = pool.measured(experiment, 0);
  const auto& searches = measured.searches.at(0);
  ASSERT_TRUE(searches.at(0) && searches.at(1));
  EXPECT_EQ(searches[0]->log10, -2);
  EXPECT_EQ(searches[0]->winner.server_lr, 0.01);
  EXPECT_EQ(searches[0]->winner.first_draw, 0u);
  EXPECT_EQ(searches[0]->rounds, 20u);
  EXPECT_EQ(searches[0]->extra_rounds, 80);
  EXPECT_FALSE(searches[1]->log10);
  EXPECT_EQ(pool.trainers(experiment), std::vector<std::string>{"somebody"});
}

TEST(Pool, RefusesWhatANewerSubfleetWrote) {
  const TemporaryFolder folder;
  const Experiment experiment = experiment_of(ExperimentKind::kSearches);
  const Pool pool(folder.path());
  const Trial trial = pool.trials(experiment)[0];
  save(trial, search_with(valley), "somebody");
  std::string text = read_file(trial.path);
  EXPECT_EQ(text.rfind(R"({"format":1,)", 0), 0u);
  write_file(trial.path, text.replace(10, 1, "2"));
  EXPECT_THROW(pool.measured(experiment, 0), Error);
  pool.add_time(std::span(&trial, 1), 3);
  EXPECT_EQ(pool.seconds(std::span(&experiment, 1)), std::nullopt) << "of one of two";
  write_file(folder / "times.jsonl", "{\"format\": 2, \"seconds\": 3, \"trials\": []}\n");
  EXPECT_THROW(pool.seconds(std::span(&experiment, 1)), Error);
}

TEST(Pool, KeepsTheRoundsOfRates) {
  const TemporaryFolder folder;
  Experiment experiment = experiment_of(ExperimentKind::kRates);
  experiment.rates = {-3, -2};
  const Pool pool(folder.path());
  const std::vector<std::optional<uint32_t>> rounds{std::nullopt, 7};
  save(pool.trials(experiment)[0], rounds, "somebody");
  const Measured measured = pool.measured(experiment, 0);
  ASSERT_TRUE(measured.rates.at(0).at(0));
  EXPECT_EQ(*measured.rates[0][0], (RateRounds{{-3, std::nullopt}, {-2, 7}}));
  EXPECT_FALSE(measured.rates[0].at(1));
}

TEST(Pool, AnEnsembleComesAfterItsMembers) {
  const TemporaryFolder folder;
  const Experiment experiment = experiment_of(ExperimentKind::kRuns, 2);
  const Pool pool(folder.path());
  std::vector<Trial> missing = pool.missing(experiment);
  ASSERT_EQ(missing.size(), 6u);
  EXPECT_EQ(missing[0].config.run.seed, member_seed(1, 1));
  EXPECT_TRUE(missing[0].members.empty() && missing[1].members.empty());
  ASSERT_EQ(missing[2].members.size(), 2u);
  train_run(missing[0]);
  train_run(missing[1]);
  EXPECT_EQ(pool.missing(experiment).size(), 4u);
  save(missing[2], std::nullopt);
  EXPECT_TRUE(is_finished(missing[2]));
  EXPECT_EQ(pool.missing(experiment).size(), 3u);
}

TEST(Pool, AddsUpTimesOnceForEveryTrial) {
  const TemporaryFolder folder;
  const Experiment experiment = experiment_of(ExperimentKind::kRuns);
  const Pool pool(folder.path());
  const std::vector<Trial> trials = pool.trials(experiment);
  EXPECT_FALSE(pool.seconds({&experiment, 1}));
  pool.add_time({trials.data(), 1}, 3);
  EXPECT_FALSE(pool.seconds({&experiment, 1}));
  pool.add_time(trials, 4);
  const std::vector<Experiment> twice{experiment, experiment};
  EXPECT_EQ(pool.seconds(twice), 7);
}

TEST(Pool, ATimeThatCannotBeKeptIsAnError) {
  const TemporaryFolder folder;
  const Experiment experiment = experiment_of(ExperimentKind::kRuns);
  const Pool pool(folder.path());
  make_folder(folder / "times.jsonl");
  EXPECT_THROW(pool.add_time(pool.trials(experiment), 1), Error);
}

TEST(Pool, SaysThatAFileIsDamaged) {
  const TemporaryFolder folder;
  const Experiment experiment = experiment_of(ExperimentKind::kSearches);
  const Pool pool(folder.path());
  write_file(pool.trials(experiment)[0].path, "{");
  try {
    pool.measured(experiment, 0);
    FAIL() << "half a file went through";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("is damaged; remove it"), std::string::npos) << error.what();
  }
}

TEST(Pool, IsOfOneProcessUnlessItOnlyLooks) {
  const TemporaryFolder folder;
  const Pool pool(folder / "p");
  EXPECT_THROW(Pool(folder / "p"), Error);
  EXPECT_NO_THROW(Pool(folder / "p", Pool::Use::kReadOnly));
  EXPECT_NO_THROW(Pool(folder / "none", Pool::Use::kReadOnly));
  EXPECT_FALSE(std::filesystem::exists(folder / "none"));
}

TEST(Pool, TakesTheRateThatMostSearchesFound) {
  const TemporaryFolder folder;
  const Experiment searches = experiment_of(ExperimentKind::kSearches);
  Experiment runs = experiment_of(ExperimentKind::kRuns);
  const Pool pool(folder.path());
  EXPECT_FALSE(take_rates(runs, searches, pool));
  for (const Trial& trial : pool.trials(searches)) save(trial, search_with(valley), "somebody");
  EXPECT_TRUE(take_rates(runs, searches, pool));
  EXPECT_EQ(runs.plans[0].runs[0].config.server.lr, 0.01);
  EXPECT_EQ(runs.plans[0].runs[0].winners.size(), 2u);
}

}  // namespace
}  // namespace subfleet
