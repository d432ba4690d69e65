#include "subfleet/results/run_measures.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "subfleet/store/run_writer.h"
#include "temporary_folder.h"
#include "tested_log.h"
#include "tiny_run.h"

namespace subfleet {
namespace {

TEST(RunMeasures, ARunIsOverWhenItsModelIsOfItsLastRoundOrItDiverged) {
  const TemporaryFolder folder;
  ThreadPool pool(1);
  LocalFleet fleet = tiny_fleet(pool);
  Config config = tiny_config();
  config.run.rounds = 2;
  subfleet::Run run(config, fleet);
  RunWriter writer = RunWriter::begin(folder / "run", run, {});
  writer.append(run.step());
  writer.finish(run);
  EXPECT_FALSE(is_over(load_run(folder / "run")));
  writer.append(run.step());
  EXPECT_FALSE(is_over(load_run(folder / "run"))) << "its model is not written";
  writer.finish(run);
  RunSummary summary = load_run(folder / "run");
  EXPECT_TRUE(is_over(summary));
  EXPECT_FALSE(has_diverged(summary));
  summary.folder = folder / "none";
  summary.rounds.back().train_loss = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(is_over(summary));
}

TEST(RunMeasures, BytesUntilATestReachesCountUpToTheFirstThatDoes) {
  const auto run = run_with({std::nullopt, 0.3, std::nullopt, 0.6, 0.5, 0.7});
  EXPECT_EQ(bytes_until_test_reaches(run, 0.3), 40U);
  EXPECT_EQ(bytes_until_test_reaches(run, 0.31), 80U);
  EXPECT_EQ(bytes_until_test_reaches(run, 0.6), 80U);
  EXPECT_EQ(bytes_until_test_reaches(run, 0.65), 120U);
  EXPECT_EQ(bytes_until_test_reaches(run, 0.71), std::nullopt);
  EXPECT_EQ(bytes_total(run), 120U);
}

TEST(RunMeasures, AccuracyAtBytesLiesBetweenTheTestsAroundThem) {
  auto run = run_with({std::nullopt, 0.3, std::nullopt, 0.6, 0.5});
  EXPECT_EQ(accuracy_at(run, 39), std::nullopt);
  EXPECT_EQ(accuracy_at(run, 40), 0.3);
  EXPECT_DOUBLE_EQ(*accuracy_at(run, 50), 0.375);
  EXPECT_DOUBLE_EQ(*accuracy_at(run, 79), 0.5925) << "a test one byte later counts almost whole";
  EXPECT_EQ(accuracy_at(run, 80), 0.6);
  EXPECT_DOUBLE_EQ(*accuracy_at(run, 90), 0.55);
  EXPECT_EQ(accuracy_at(run, 1000), 0.5);
  run.search_bytes = 50;
  EXPECT_EQ(accuracy_at(run, 89), std::nullopt) << "the search came first";
  EXPECT_EQ(accuracy_at(run, 90), 0.3);
  EXPECT_EQ(bytes_until_test_reaches(run, 0.3), 90U);
  EXPECT_EQ(bytes_total(run), 150U);
}

TEST(RunMeasures, BytesAtTheLastTestLeaveOutWhatWasNotTested) {
  auto run = run_with({0.1, 0.3, 0.5, std::nullopt});
  EXPECT_EQ(bytes_at_last_test(run), 60U);
  run.search_bytes = 500;
  EXPECT_EQ(bytes_at_last_test(run), 560U);
  EXPECT_EQ(bytes_at_last_test(run_with({std::nullopt})), std::nullopt);
}

TEST(RunMeasures, FinalIsTheLastMeasuredAndBestTheHighest) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto run = run_with({0.3, 0.8, nan, 0.7, std::nullopt, nan});
  EXPECT_EQ(final_accuracy(run), 0.7);
  EXPECT_EQ(best_accuracy(run), 0.8);
  EXPECT_EQ(final_accuracy(run_with({std::nullopt})), std::nullopt);
  EXPECT_EQ(best_accuracy(run_with({nan})), std::nullopt);
}

TEST(RunMeasures, TestsAreSmoothedOverTheLastFive) {
  const auto tests = tests_of(log_of({0.1, 0.3, 0.5, 0.5, 0.6, 0.6}));
  ASSERT_EQ(tests.size(), 6u);
  EXPECT_NEAR(tests[1].smoothed, 0.2, 1e-12);
  EXPECT_NEAR(tests[4].smoothed, 0.4, 1e-12);
  EXPECT_NEAR(tests[5].smoothed, 0.5, 1e-12);
  EXPECT_EQ(tests[5].bytes, 120u);
}

TEST(RunMeasures, AnAccuracyIsReachedByTheMeanOfFiveTestsAndNoFewer) {
  const auto tests = tests_of(log_of({0.9, 0.9, 0.1, 0.1, 0.1, 0.5, 0.9, 0.9, 0.9}));
  EXPECT_EQ(bytes_until_mean_reaches(tests, 0.4), 100u) << "not at the first test, which is above it alone";
  EXPECT_EQ(bytes_until_mean_reaches(tests, 0.5), 160u);
  EXPECT_FALSE(bytes_until_mean_reaches(tests, 0.9));
  EXPECT_FALSE(bytes_until_mean_reaches(tests_of(log_of({0.9, 0.9, 0.9, 0.9})), 0.1));
}

TEST(RunMeasures, ALuckyTestReachesAnAccuracyThatTheMeanOfFiveDoesNot) {
  auto run = run_with({0.2, 0.9, 0.2, 0.2, 0.2, 0.2});
  EXPECT_EQ(bytes_until_test_reaches(run, 0.5), 40U);
  EXPECT_EQ(bytes_until_mean_reaches(tests_of(run.rounds), 0.5), std::nullopt);
  EXPECT_EQ(bytes_until_mean_reaches(tests_of(run.rounds), 0.3), 100U);
  run.search_bytes = 7;
  EXPECT_EQ(bytes_until_test_reaches(run, 0.5), 47U) << "a report counts the search";
  EXPECT_EQ(bytes_until_mean_reaches(tests_of(run.rounds), 0.3), 100U) << "a sweep does not";
}

}  // namespace
}  // namespace subfleet
