#include "subfleet/report/sweep_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "markup_check.h"
#include "report/sweep_chart.h"

namespace subfleet {
namespace {

using Json = nlohmann::json;

// A run that comes to `end` with so many bytes per round and way.
std::vector<RoundRecord> log_of(double end, uint64_t bytes) {
  std::vector<RoundRecord> log;
  for (uint32_t round = 1; round <= 200; ++round) {
    log.push_back({.round = round,
                   .bytes_down = bytes,
                   .bytes_up = bytes,
                   .train_loss = 1,
                   .test_accuracy = end * round / (round + 5.0) * 205 / 200});
  }
  return log;
}

SweepResults example(std::optional<size_t> baseline = 0) {
  SweepPlan plan;
  plan.title = "A & B";
  plan.seeds = {1, 2};
  plan.baseline = baseline;
  plan.runs = {{"<none> | f32", "none", {}}, {"half", "half", {}}, {"not yet", "not-yet", {}}};
  SweepResults results = sweep_results(plan, {{log_of(0.80, 1'000'000), log_of(0.82, 1'000'000)},
                                              {log_of(0.80, 250'000), log_of(0.82, 250'000)},
                                              {std::nullopt, std::nullopt}});
  results.trainers = {"subfleet 1 on cpu"};
  return results;
}

TEST(SweepReport, TheTableComparesWithTheBaseline) {
  const std::string table = sweep_table(example());
  EXPECT_NE(table.find("bytes to 0.996x baseline"), std::string::npos) << table;
  EXPECT_NE(table.find("+0.00 ± 0.00"), std::string::npos) << table;
  EXPECT_NE(table.find("2.00 MB"), std::string::npos) << table;
  EXPECT_NE(table.find("4.00x fewer"), std::string::npos) << table;
  EXPECT_NE(table.find("2 of 2"), std::string::npos) << table;
  EXPECT_EQ(table.find("not yet"), std::string::npos) << "nothing is known of it";
  EXPECT_EQ(sweep_table(example(std::nullopt)).find("baseline"), std::string::npos);
}

TEST(SweepReport, MarkdownKeepsItsColumns) {
  const std::string page = sweep_markdown(example());
  EXPECT_TRUE(page.starts_with("# A & B\n")) << page;
  EXPECT_NE(page.find("| &lt;none> \\| f32 | 2 |"), std::string::npos) << page;
  EXPECT_NE(page.find("those to `<none> | f32`"), std::string::npos) << page;
  EXPECT_NE(page.find("subfleet 1 on cpu"), std::string::npos) << page;
}

TEST(SweepReport, JsonHasEverySeedsFiguresAndAThinnedCurve) {
  const Json json = Json::parse(sweep_json(example()));
  EXPECT_EQ(json.at("baseline"), "<none> | f32");
  EXPECT_EQ(json.at("trained_by")[0], "subfleet 1 on cpu");
  const Json& half = json.at("runs")[1];
  EXPECT_EQ(half.at("times_fewer"), 4);
  EXPECT_EQ(half.at("accuracy").at("count"), 2);
  ASSERT_EQ(half.at("seeds").size(), 2u);
  const Json& seed = half.at("seeds")[1];
  EXPECT_EQ(seed.at("seed"), 2);
  EXPECT_EQ(seed.at("bytes"), 100'000'000);
  EXPECT_LE(seed.at("curve").size(), 50u);
  EXPECT_EQ(seed.at("curve").back(), Json::array({200, 100'000'000, 0.82}));
  EXPECT_TRUE(json.at("runs")[2].at("accuracy").is_null());
}

TEST(SweepChart, ShowsMeanSpreadAndTarget) {
  const Chart chart = sweep_chart(example());
  ASSERT_EQ(chart.series.size(), 2u);
  EXPECT_TRUE(chart.log_x);
  EXPECT_NEAR(chart.level->y, 0.996 * example().runs[0].accuracy->mean, 1e-12);
  const Series& line = chart.series[1];
  EXPECT_EQ(line.points.back().x, 100'000'000);
  EXPECT_LT(line.band.back().low, line.points.back().y);
  EXPECT_GT(line.band.back().high, line.points.back().y);
  for (const Point& point : line.points) EXPECT_GE(point.y, *chart.y_from);
}

TEST(SweepChart, LeavesOutWhatIsNotToBeDrawn) {
  SweepResults results = example();
  results.runs[0].drawn = false;
  const Chart chart = sweep_chart(results);
  ASSERT_EQ(chart.series.size(), 1u);
  EXPECT_EQ(chart.series[0].name, "half");
  EXPECT_TRUE(chart.level) << "the baseline counts, drawn or not";
}

TEST(SweepChart, IsWellFormedAndAlwaysLight) {
  for (const SweepResults& results : {example(), example(std::nullopt), SweepResults{}}) {
    const std::string svg = sweep_svg(results);
    EXPECT_EQ(markup_fault(svg), "") << svg;
    EXPECT_EQ(svg.find("prefers-color-scheme"), std::string::npos);
    EXPECT_NE(svg.find("class=\"paper\""), std::string::npos);
    EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
  }
  const std::string svg = sweep_svg(example());
  EXPECT_NE(svg.find("class=\"level\""), std::string::npos);
  EXPECT_NE(svg.find("class=\"band d1\""), std::string::npos);
}

}  // namespace
}  // namespace subfleet
