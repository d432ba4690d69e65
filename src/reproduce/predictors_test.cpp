#include "reproduce/predictors.h"

#include <gtest/gtest.h>

#include "subfleet/error.h"

namespace subfleet {
namespace {

Config with_family(const char* family) {
  Config config;
  config.code.family = family;
  return config;
}

TEST(Predictors, TellFamiliesApart) {
  EXPECT_NEAR(book_property("correlation", with_family("same")), 1, 1e-12);
  EXPECT_NEAR(book_property("distance", with_family("same")), 0, 1e-12);
  EXPECT_NEAR(book_property("coverage", with_family("same")), 0, 1e-12);
  EXPECT_LT(book_property("correlation", with_family("gold")),
            book_property("correlation", with_family("random")));
  EXPECT_GT(book_property("distance", with_family("cwc")), book_property("distance", with_family("random")));
  EXPECT_GT(book_property("coverage", with_family("balanced")), 0.95);
  EXPECT_THROW(book_property("beauty", with_family("gold")), Error);
}

std::vector<Predicted> runs_of(const std::vector<std::pair<double, double>>& points) {
  std::vector<Predicted> runs;
  for (const auto& [property, accuracy] : points)
    runs.push_back({"run", property, {.mean = accuracy, .interval = {}, .count = 1}});
  return runs;
}

TEST(Predictors, RankCorrelation) {
  const auto rising = rank_correlation(runs_of({{1, 10}, {2, 11}, {3, 50}, {4, 51}, {9, 52}}));
  EXPECT_NEAR(rising->mean, 1, 1e-12);
  EXPECT_NEAR(rank_correlation(runs_of({{1, 9}, {2, 8}, {3, 7}, {4, 6}}))->mean, -1, 1e-12);
  // By hand: ranks 1 2 3 4 5 against 2 1 4 3 5, so 1 - 6 * 4 / (5 * 24).
  const auto mixed = rank_correlation(runs_of({{1, 2}, {2, 1}, {3, 4}, {4, 3}, {5, 5}}));
  EXPECT_NEAR(mixed->mean, 0.8, 1e-12);
  EXPECT_GT(*mixed->interval, 0.5) << "five runs say little";
  EXPECT_NEAR(rank_correlation(runs_of({{1, 5}, {1, 5}, {1, 5}, {1, 5}}))->mean, 0, 1e-12);
  EXPECT_FALSE(rank_correlation(runs_of({{1, 1}, {2, 2}, {3, 3}})));
}

}  // namespace
}  // namespace subfleet
