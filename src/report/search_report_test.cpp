#include "report/search_report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "report/markup_check.h"

namespace subfleet {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A search in which a value reaches 30 % after that many rounds; none: it diverges in its second.
RateSearch search_with(const std::function<double(double log10)>& rounds_of, uint32_t outward = 4,
                       uint32_t max_rounds = 100) {
  RateSearch search({.start = 0.01,
                     .steps = 1,
                     .outward = outward,
                     .target = 0.3,
                     .window = 1,
                     .max_rounds = max_rounds,
                     .guess_loss = 4,
                     .low = 0,
                     .high = 1e6});
  while (!search.running().empty()) {
    std::vector<CandidateRound> rounds;
    for (const size_t index : search.running()) {
      const Candidate& candidate = search.candidates()[index];
      const double needed = rounds_of(std::log10(candidate.value)), now = candidate.round_count() + 1;
      const bool lost = needed == 0 && now == 2;
      rounds.push_back({.accuracy = lost          ? kNan
                                    : needed == 0 ? 0.01
                                                  : 0.3 * now / needed,
                        .loss = 1,
                        .bytes = 10});
    }
    search.record(rounds);
  }
  return search;
}

double valley(double at) { return at > -1.2 ? 0 : 20 + 16 * std::abs(at + 2); }

TEST(SearchReport, TheTableHasALineACandidate) {
  EXPECT_EQ(candidate_table(search_with(valley), "server.lr"),
            "step  server.lr   log10  rounds  accuracy  fate\n"
            "----  ---------  ------  ------  --------  ------------------------\n"
            "   0       0.01  -2.000      20    30.0 %  reached the target, best\n"
            "   0      0.001  -3.000      20    16.7 %  overtaken\n"
            "   0        0.1  -1.000       2         -  diverged\n"
            "   1   0.003162  -2.500      20    21.4 %  overtaken\n"
            "   1    0.03162  -1.500      20    21.4 %  overtaken\n");
}

TEST(SearchReport, TheCostStandsBesideTheFormula) {
  EXPECT_EQ(explain_cost(search_with(valley)),
            "cost    62 rounds, 620 B, beside the best's own run\n"
            "formula 3 x 20 + 2 x 20 - 20 = 80 rounds; 18 of them spared by stopping the lost");
}

TEST(SearchReport, EveryOutcomeIsExplained) {
  EXPECT_EQ(explain_outcome(search_with(valley), "server.lr"),
            "server.lr = 0.01 reaches 30.0 % in 20 rounds");
  EXPECT_EQ(
      explain_outcome(search_with([](double at) { return 60 - 10 * at; }, 0), "server.lr"),
      "server.lr = 0.3162 reaches 30.0 % in 66 rounds; it is the outermost tried, so one further out may be "
      "better: move tune.start or raise tune.outward");
  EXPECT_EQ(
      explain_outcome(search_with(valley, 4, 10), "server.lr"),
      "no candidate for server.lr reached 30.0 % within 10 rounds; the best, 0.01, came to 15.0 %: lower "
      "tune.target, raise tune.max_rounds or move tune.start");
  EXPECT_EQ(explain_outcome(search_with([](double) { return 0.0; }), "server.lr"),
            "every candidate for server.lr is lost; lower tune.start or round.client_lr");
}

TEST(SearchReport, ThePictureTellsWhoArrivedFromWhoWasStopped) {
  const Chart chart = rounds_over_values(search_with(valley), "server.lr");
  ASSERT_EQ(chart.series.size(), 2U);
  ASSERT_EQ(chart.series[0].points.size(), 1U);
  EXPECT_EQ(chart.series[0].points[0].x, 0.01);
  EXPECT_EQ(chart.series[0].points[0].y, 20);
  EXPECT_EQ(chart.series[1].points.size(), 8U) << "four, and a gap behind each";
  EXPECT_EQ(markup_fault(svg_file(chart)), "");
}

TEST(SearchReport, JsonHoldsEveryCandidate) {
  const auto json = nlohmann::json::parse(search_json(search_with(valley), Config{}));
  EXPECT_EQ(json["parameter"], "server.lr");
  EXPECT_EQ(json["outcome"], "found");
  EXPECT_EQ(json["best"], 0.01);
  EXPECT_EQ(json["rounds"], 20);
  EXPECT_EQ(json["cost"]["rounds"], 62);
  EXPECT_EQ(json["cost"]["bytes"], 620);
  EXPECT_EQ(json["cost"]["formula_rounds"], 80);
  ASSERT_EQ(json["candidates"].size(), 5U);
  EXPECT_EQ(json["candidates"][0]["curve"].size(), 20U);
  EXPECT_EQ(json["candidates"][2]["fate"], "diverged");
  EXPECT_EQ(json["candidates"][2]["curve"][1], nullptr);
  EXPECT_EQ(json["steps"][1]["kind"], "refine");
}

}  // namespace
}  // namespace subfleet
