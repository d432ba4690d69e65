#include "subfleet/page/page.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "markup_check.h"
#include "subfleet/base/text.h"
#include "subfleet/report/curves.h"

namespace subfleet {
namespace {

ReportedRun run_of(const std::string& name, uint64_t bytes_each_way, double step) {
  ReportedRun run;
  run.name = name;
  run.family = name;
  run.keep = 0.5;
  run.config = "[code]\nfamily = \"" + name + "\"\n";
  for (uint32_t round = 1; round <= 8; ++round) {
    run.rounds.push_back({.round = round,
                          .bytes_down = bytes_each_way,
                          .bytes_up = bytes_each_way,
                          .train_loss = std::numeric_limits<double>::quiet_NaN(),
                          .train_accuracy_median = step * round,
                          .seconds = 1,
                          .test_accuracy = step * round});
  }
  return run;
}

// none reaches 80 % in round 8 with 1.6 GB; gold in round 8 with 0.4 GB.
std::array<ReportedRun, 2> two_runs() {
  return {run_of("none", 100'000'000, 0.1), run_of("gold", 25'000'000, 0.1)};
}

TEST(Report, ComparesTheBytesToReachTheSameAccuracy) {
  const auto runs = two_runs();
  const auto comparison = compare_runs(runs);
  EXPECT_EQ(comparison.accuracy, 0.8);
  EXPECT_EQ(comparison.rows[0].bytes_to_reach, 1'600'000'000U);
  EXPECT_EQ(comparison.rows[1].bytes_to_reach, 400'000'000U);
  EXPECT_EQ(comparison.rows[0].bytes_ratio, 1.0);
  EXPECT_EQ(comparison.rows[1].bytes_ratio, 0.25);
}

TEST(Report, AnAccuracyThatIsNotReachedHasNoRatio) {
  const std::array runs{run_of("none", 10, 0.1), run_of("gold", 5, 0.05)};
  const auto comparison = compare_runs(runs, 0.7);
  EXPECT_EQ(comparison.rows[0].bytes_to_reach, 140U);
  EXPECT_FALSE(comparison.rows[1].bytes_to_reach || comparison.rows[1].bytes_ratio);
  EXPECT_NE(report_table(runs, comparison).find("not reached"), std::string::npos);
}

TEST(Report, SaysWhetherARunNeedsMoreOrFewerBytes) {
  EXPECT_EQ(ratio_text(0.25), "4.00x fewer");
  EXPECT_EQ(ratio_text(1.351), "1.35x more");
  EXPECT_EQ(ratio_text(1.004), "the same");
  EXPECT_EQ(ratio_text(std::nullopt), "-");
  auto runs = two_runs();
  std::swap(runs[0], runs[1]);
  EXPECT_NE(report_table(runs).find("4.00x more"), std::string::npos) << report_table(runs);
  EXPECT_NE(report_page(runs).find("4.00x more"), std::string::npos);
  EXPECT_EQ(report_page(runs).find("fewer bytes"), std::string::npos);
}

TEST(Report, ARunsLastTestCountsThoughItsBytesAreAFewOver) {
  const std::array runs{run_of("none", 100, 0.1), run_of("gold", 101, 0.1)};
  const auto comparison = compare_runs(runs);
  EXPECT_EQ(comparison.bytes, 1600U);
  EXPECT_NEAR(*comparison.rows[1].accuracy_at, 0.792, 0.001);
}

TEST(Report, ASearchCountsWhereBytesAreCompared) {
  auto runs = two_runs();
  runs[1].search_bytes = 300'000'000;
  const auto comparison = compare_runs(runs);
  EXPECT_EQ(comparison.rows[1].bytes_to_reach, 700'000'000U);
  EXPECT_EQ(comparison.bytes, 700'000'000U);
  EXPECT_DOUBLE_EQ(*comparison.rows[0].accuracy_at, 0.35);  // three and a half rounds of 200 MB
  EXPECT_DOUBLE_EQ(*comparison.rows[1].accuracy_at, 0.8);
  const std::string table = report_table(runs, comparison);
  for (const char* word : {"search", "300 MB", "700 MB", "accuracy at 700 MB", "35.0 %"})
    EXPECT_NE(table.find(word), std::string::npos) << word << "\n" << table;
  EXPECT_EQ(report_table(two_runs()).find("search"), std::string::npos);
  EXPECT_EQ(accuracy_over_bytes(runs).series[1].points.front().x, 3.5e8);
  EXPECT_EQ(markup_fault(report_page(runs, comparison)), "");
  const auto json = nlohmann::json::parse(report_json(runs, comparison));
  EXPECT_EQ(json["bytes"], 700'000'000);
  EXPECT_EQ(json["runs"][1]["search_bytes"], 300'000'000);
  EXPECT_DOUBLE_EQ(json["runs"][1]["accuracy_at_bytes"], 0.8);
}

TEST(Report, TableIsAlignedAndSaysWhatItMust) {
  const auto runs = two_runs();
  const std::string table = report_table(runs);
  const size_t width = table.find('\n');
  for (size_t start = 0; start < table.size(); start += width + 1)
    EXPECT_EQ(table.find('\n', start), start + width);
  for (const char* word : {"bytes to reach 80 %", "than the first", "gold 0.5", "80.0 %", "200 MB", "400 MB",
                           "1.60 GB", "4.00x fewer"}) {
    EXPECT_NE(table.find(word), std::string::npos) << word << "\n" << table;
  }
}

TEST(Report, JsonHoldsTheTable) {
  const auto runs = two_runs();
  const auto json = nlohmann::json::parse(report_json(runs, compare_runs(runs)));
  EXPECT_EQ(json["accuracy"], 0.8);
  ASSERT_EQ(json["runs"].size(), 2U);
  EXPECT_EQ(json["runs"][1]["run"], "gold");
  EXPECT_EQ(json["runs"][1]["bytes_total"], 400'000'000);
  EXPECT_EQ(json["runs"][1]["bytes_ratio"], 0.25);
  EXPECT_EQ(json["runs"][1]["optimizer"], nullptr);
}

TEST(Report, PageIsWellFormedAndNeedsNothingElse) {
  const auto runs = two_runs();
  for (const auto& page : {report_page(runs), report_page(std::span(runs).first(1))}) {
    EXPECT_EQ(markup_fault(page), "");
    for (const char* reference : {"src=\"http", "href=", "url(", "@import", "fetch(", "<link"}) {
      EXPECT_EQ(page.find(reference), std::string::npos) << reference;
    }
    EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  }
  EXPECT_NE(report_page(runs).find("4.00× fewer bytes"), std::string::npos);
}

TEST(Report, PageEscapesWhatComesFromFiles) {
  auto runs = two_runs();
  const std::string evil = "<script>alert(\"1\")</script>&'\x1b\xff";
  for (auto& run : runs) run.name = run.family = run.optimizer = run.config = evil;
  for (const auto& page : {report_page(runs), report_page(std::span(runs).first(1))}) {
    EXPECT_EQ(page.find("<script"), page.rfind("<script")) << "only the page's own";
    EXPECT_EQ(markup_fault(page), "");
    EXPECT_EQ(printable(page), page);
  }
}

TEST(Report, ARunWithoutRoundsIsShownAsSuch) {
  std::array<ReportedRun, 2> runs;
  runs[0].name = "fresh";
  runs[1] = run_of("gold", 10, 0.1);
  const std::span<const ReportedRun> both(runs);
  for (const auto shown : {both, both.first(1)}) {
    const std::string page = report_page(shown);
    EXPECT_EQ(markup_fault(page), "");
    EXPECT_NE(page.find("fresh has no rounds yet"), std::string::npos);
    EXPECT_FALSE(report_table(shown).empty());
  }
}

TEST(Report, CurvesOverBytesAddUpBothWays) {
  const auto runs = two_runs();
  const Chart chart = accuracy_over_bytes(runs);
  EXPECT_EQ(chart.series[1].points.back().x, 4e8);
  EXPECT_EQ(chart.series[1].points.front().x, 5e7);
  EXPECT_TRUE(chart.log_x);
  EXPECT_FALSE(accuracy_over_bytes(std::array{run_of("a", 1000, 0.1), run_of("b", 0, 0.1)}).log_x) << "no 0";
  EXPECT_FALSE(accuracy_over_bytes(std::array{run_of("a", 1000, 0.1), run_of("b", 10, 0.05)}).y_from);
  const Chart alike = accuracy_over_bytes(std::array{run_of("a", 1000, 0.2), run_of("b", 10, 0.19)});
  EXPECT_NEAR(alike.y_from.value_or(0), lowest_shown(alike.series[0].points.back().y), 1e-12);
  EXPECT_GT(alike.y_from.value_or(0), 0);
}

TEST(Report, ThePageHasOneRowAndOneLinePerGroup) {
  std::vector<ReportedRun> runs;
  for (const char* family : {"gold", "cwc"}) {
    for (const uint64_t seed : {1, 2, 3}) {
      ReportedRun& run = runs.emplace_back(run_of(family, 50, 0.04 + 0.01 * static_cast<double>(seed)));
      run.name = std::string(family) + "-" + std::to_string(seed);
      run.seed = seed;
      run.settings = {{"code.family", family}, {"run.seed", std::to_string(seed)}};
      for (RoundRecord& record : run.rounds) {
        record.train_loss = 1;
        record.train_accuracies = Quartiles{0, 0.1, 0.2, 0.3, 1};
      }
    }
  }
  const std::string page = report_page(runs);
  EXPECT_EQ(markup_fault(page), "");
  const auto count = [&](const std::string& what) {
    size_t found = 0;
    for (size_t at = page.find(what); at != std::string::npos; at = page.find(what, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("<button"), 2U);
  EXPECT_EQ(count("<g data-s=\"1\">"), 5U) << "a line in each chart";
  EXPECT_EQ(count("<g data-s=\"2\">"), 0U);
  EXPECT_NE(page.find("48.0 ± 19.9 %"), std::string::npos);
}

TEST(Report, ThePageShowsTheSettingsThatDiffer) {
  std::array runs = two_runs();
  runs[0].settings = {{"run.seed", "1"}};
  runs[1].settings = {{"code.layers.conv2.keep", "0.25"}, {"run.seed", "1"}};
  const std::string page = report_page(runs);
  for (const char* words : {"code.layers.conv2.keep", "0.25"})
    EXPECT_NE(page.find(words), std::string::npos) << words;
  EXPECT_EQ(markup_fault(page), "");
  runs[1].settings = runs[0].settings;
  EXPECT_NE(report_page(runs).find("No setting differs"), std::string::npos);
}

}  // namespace
}  // namespace subfleet
