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

// Of one seed each; a second one may have other accuracies.
std::vector<Predicted> runs_of(const std::vector<std::pair<double, double>>& points,
                               const std::vector<double>& second = {}) {
  std::vector<Predicted> runs;
  for (const auto& [property, accuracy] : points) {
    Predicted& run = runs.emplace_back(Predicted{"run", property, {}, {{1, accuracy}}});
    if (runs.size() <= second.size()) run.by_seed[2] = second[runs.size() - 1];
  }
  return runs;
}

TEST(Predictors, RankCorrelation) {
  const auto rising = rank_correlation(runs_of({{1, 10}, {2, 11}, {3, 50}, {4, 51}, {9, 52}}));
  EXPECT_NEAR(rising->mean, 1, 1e-12);
  EXPECT_FALSE(rising->interval) << "one seed says nothing of the next";
  EXPECT_NEAR(rank_correlation(runs_of({{1, 9}, {2, 8}, {3, 7}, {4, 6}}))->mean, -1, 1e-12);
  // By hand: ranks 1 2 3 4 5 against 2 1 4 3 5, so 1 - 6 * 4 / (5 * 24).
  const auto mixed = rank_correlation(runs_of({{1, 2}, {2, 1}, {3, 4}, {4, 3}, {5, 5}}));
  EXPECT_NEAR(mixed->mean, 0.8, 1e-12);
  EXPECT_NEAR(rank_correlation(runs_of({{1, 5}, {1, 5}, {1, 5}, {1, 5}}))->mean, 0, 1e-12);
  EXPECT_FALSE(rank_correlation(runs_of({{1, 1}, {2, 2}, {3, 3}})));
}

TEST(Predictors, SeedsSayHowSureARankCorrelationIs) {
  const auto torn = rank_correlation(runs_of({{1, 1}, {2, 2}, {3, 3}, {4, 4}}, {4, 3, 2, 1}));
  EXPECT_NEAR(torn->mean, 0, 1e-12);
  EXPECT_GT(*torn->interval, 1);
  const auto sure = rank_correlation(runs_of({{1, 1}, {2, 2}, {3, 3}, {4, 4}}, {5, 6, 7, 8}));
  EXPECT_NEAR(sure->mean, 1, 1e-12);
  EXPECT_EQ(sure->count, 2u);
  EXPECT_EQ(rank_correlation(runs_of({{1, 1}, {2, 2}, {3, 3}, {4, 4}}, {5, 6, 7}))->count, 1u)
      << "a run lacks it";
}

}  // namespace
}  // namespace subfleet
