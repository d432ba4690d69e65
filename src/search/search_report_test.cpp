#include "subfleet/search/search_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "search/search_testing.h"

namespace subfleet {
namespace {

TEST(SearchReport, TheTableHasOneLinePerCandidate) {
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
