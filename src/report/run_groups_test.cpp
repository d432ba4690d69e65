#include "subfleet/report/run_groups.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "subfleet/report/curves.h"
#include "subfleet/report/table.h"

namespace subfleet {
namespace {

// One test per round, rising by `step`.
ReportedRun run_of(const std::string& name, const std::string& family, uint64_t seed, double step) {
  ReportedRun run;
  run.name = name;
  run.family = family;
  run.seed = seed;
  run.settings = {{"code.family", family}, {"run.seed", std::to_string(seed)}, {"data.path", name}};
  for (uint32_t round = 1; round <= 4; ++round) {
    run.rounds.push_back({.round = round,
                          .bytes_down = 50,
                          .bytes_up = 50,
                          .train_accuracy_median = step * round,
                          .test_accuracy = step * round,
                          .train_accuracies = Quartiles{0, 0.1, 0.2, 0.3, 1}});
  }
  return run;
}

std::vector<ReportedRun> five_runs() {
  return {run_of("gold-1", "gold", 1, 0.10), run_of("cwc-1", "cwc", 1, 0.20),
          run_of("gold-2", "gold", 2, 0.12), run_of("gold-3", "gold", 3, 0.14),
          run_of("cwc-2", "cwc", 2, 0.20)};
}

TEST(RunGroups, RunsThatDifferInTheSeedAloneAreOne) {
  const auto groups = group_by_seed(five_runs());
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].name, "gold");
  EXPECT_EQ(groups[0].members, (std::vector<size_t>{0, 2, 3}));
  EXPECT_EQ(groups[1].name, "cwc");
  EXPECT_EQ(groups[1].members, (std::vector<size_t>{1, 4}));
}

TEST(RunGroups, TheSameSeedTwiceOrUnknownSettingsAreNotOne) {
  EXPECT_EQ(group_by_seed(std::vector{run_of("a", "gold", 1, 0.1), run_of("b", "gold", 1, 0.1)}).size(), 2U);
  EXPECT_EQ(group_by_seed(std::vector<ReportedRun>(2)).size(), 2U);
  std::vector<ReportedRun> runs{run_of("a", "gold", 1, 0.1), run_of("b", "gold", 2, 0.1)};
  runs[1].settings["server.lr"] = "0.1";
  EXPECT_EQ(group_by_seed(runs).size(), 2U);
}

TEST(RunGroups, NamesAreWhatTheRunsShareAndNeverTwice) {
  const auto name = [](const std::string& first, const std::string& second) {
    return group_by_seed(std::vector{run_of(first, "gold", 7, 0.1), run_of(second, "gold", 12, 0.1)})[0].name;
  };
  EXPECT_EQ(name("gold-seed7", "gold-seed12"), "gold");
  EXPECT_EQ(name("runs/gold_7", "runs/gold_12"), "runs/gold");
  EXPECT_EQ(name("gold-favg-7-0123456789", "gold-favg-12-abcdef0123"), "gold-favg")
      << "of subfleet reproduce";
  EXPECT_EQ(name("seed7", "seed12"), "seed");
  EXPECT_EQ(name("monday", "tuesday"), "monday and 1 more");
  const auto groups = group_by_seed(std::vector{run_of("a-1", "gold", 1, 0.1), run_of("a-2", "gold", 2, 0.1),
                                                run_of("a-1", "cwc", 1, 0.1), run_of("a-2", "cwc", 2, 0.1)});
  EXPECT_NE(groups.at(0).name, groups.at(1).name);
}

TEST(RunGroups, FiguresAreMeansWithIntervals) {
  const auto runs = five_runs();
  const auto comparison = compare_runs(runs);
  const auto figures = group_figures(runs, group_by_seed(runs), comparison);
  ASSERT_EQ(figures.size(), 2U);
  EXPECT_NEAR(figures[0].final->mean, 0.48, 1e-12);
  EXPECT_NEAR(*figures[0].final->interval, 4.3027 * 0.08 / std::sqrt(3.0), 1e-4);  // Student's t, 2 degrees
  EXPECT_EQ(figures[0].reached, 3U);                                               // 40 %: all of them
  EXPECT_DOUBLE_EQ(figures[1].bytes_to_reach->mean, 200);
  EXPECT_DOUBLE_EQ(*figures[1].bytes_ratio, 200 / figures[0].bytes_to_reach->mean);
  EXPECT_EQ(percent_text(figures[0].final), "48.0 ± 19.9 %");
  EXPECT_EQ(bytes_text(figures[0].bytes_total), "400 B");
  const std::string table = report_table(runs, comparison);
  EXPECT_NE(table.find("48.0 ± 19.9 %"), std::string::npos) << table;
  const auto json = nlohmann::json::parse(report_json(runs, comparison));
  EXPECT_EQ(json["runs"].size(), 5U);
  EXPECT_EQ(json["groups"][1]["runs"], (std::vector<std::string>{"cwc-1", "cwc-2"}));
}

TEST(RunGroups, ASeedThatDivergedIsCountedButNotInTheMean) {
  auto runs = five_runs();
  runs[3].rounds.back().train_loss = std::numeric_limits<double>::quiet_NaN();
  const auto figures = group_figures(runs, group_by_seed(runs), compare_runs(runs));
  EXPECT_EQ(figures[0].diverged, 1U);
  EXPECT_NEAR(figures[0].final->mean, 0.44, 1e-12);
  EXPECT_EQ(seeds_text(figures[0]), "3 (1 diverged)");
}

TEST(RunGroups, ALineIsTheMeanAndItsBandTheSpreadOfTheSeedsThatHaveComeSoFar) {
  auto runs = five_runs();
  runs[3].rounds.resize(2);
  const Chart chart = accuracy_over_rounds(runs);
  ASSERT_EQ(chart.series.size(), 2U);
  const Series& gold = chart.series[0];
  ASSERT_EQ(gold.points.size(), 4U);
  EXPECT_NEAR(gold.points[1].y, 0.24, 1e-12);
  EXPECT_NEAR(gold.points[3].y, 0.44, 1e-12) << "of the two that have it";
  ASSERT_EQ(gold.band.size(), 4U);
  EXPECT_NEAR(gold.band[1].low, 0.20, 1e-12);
  EXPECT_NEAR(gold.band[1].high, 0.28, 1e-12);
  EXPECT_TRUE(accuracy_over_rounds(std::span(runs).first(1)).series[0].band.empty()) << "of a single run";
}

TEST(RunGroups, ClientsAreABandAroundTheirMedian) {
  const auto runs = five_runs();
  const Chart several = client_accuracies_over_rounds(runs);
  EXPECT_NEAR(several.series[0].band.front().low, 0.1, 1e-12);
  EXPECT_NEAR(several.series[0].band.front().high, 0.3, 1e-12);
  EXPECT_TRUE(several.series[0].outer_band.empty());
  const Chart one = client_accuracies_over_rounds(std::span(runs).first(1));
  EXPECT_EQ(one.series[0].outer_band.front().high, 1);
}

}  // namespace
}  // namespace subfleet
