#include <gtest/gtest.h>

#include <set>

#include "codes/bounds.h"
#include "codes/hadamard.h"
#include "codes/lexicode.h"
#include "codes/quality.h"
#include "codes/spread.h"
#include "subfleet/codes.h"

namespace subfleet {
namespace {

struct Case {
  size_t length, weight, rows;
};

BookQuality draw_and_measure(const Case& wanted, uint64_t seed, uint32_t round = 0) {
  const double keep = static_cast<double>(wanted.weight) / static_cast<double>(wanted.length);
  return measure(code_family("cwc").draw(
      {.length = wanted.length, .rows = wanted.rows, .keep = keep, .seed = seed, .round = round}));
}

TEST(Cwc, ReachesTheBoundToThreePercent) {
  for (const Case& wanted :
       {Case{64, 32, 35}, Case{2048, 1024, 35}, Case{2048, 512, 35}, Case{100, 25, 10}}) {
    const BookQuality quality = draw_and_measure(wanted, 1);
    EXPECT_EQ(quality.least_weight, wanted.weight);
    EXPECT_EQ(quality.largest_weight, wanted.weight);
    EXPECT_EQ(*quality.distance_bound, least_distance_bound(wanted.length, wanted.weight, wanted.rows));
    EXPECT_GE(static_cast<double>(*quality.least_distance),
              0.97 * static_cast<double>(*quality.distance_bound))
        << wanted.length << '/' << wanted.weight << '/' << wanted.rows;
  }
}

TEST(Cwc, HitsTheBoundExactlyFromEverySeed) {
  for (uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_EQ(*draw_and_measure({100, 25, 10}, seed).least_distance, 40U);
}

TEST(Cwc, ShufflingKeepsTheDistances) {
  const BookQuality first = draw_and_measure({100, 25, 10}, 1, 0);
  const BookQuality later = draw_and_measure({100, 25, 10}, 1, 9);
  EXPECT_EQ(first.least_distance, later.least_distance);
  EXPECT_EQ(first.mean_distance, later.mean_distance);
}

TEST(Cwc, IsAlgorithm2WhereItCanBeEnumerated) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    Random random({.seed = seed, .purpose = Purpose::kCodeWords});
    const BookQuality expected = measure(lexicode({.length = 12, .weight = 6, .rows = 22}, random));
    const BookQuality drawn = draw_and_measure({12, 6, 22}, seed);
    EXPECT_EQ(drawn.least_distance, expected.least_distance);
    EXPECT_EQ(drawn.mean_distance, expected.mean_distance);
  }
}

TEST(Cwc, HoldsForAnyRequest) {
  for (const Case& wanted : {Case{30, 29, 30}, Case{30, 1, 30}, Case{40, 3, 35}, Case{65, 64, 65},
                             Case{25, 12, 300}, Case{101, 50, 1}, Case{63, 32, 35}, Case{63, 31, 35}}) {
    const BookQuality quality = draw_and_measure(wanted, 2);
    EXPECT_EQ(quality.least_weight, wanted.weight);
    EXPECT_EQ(quality.largest_weight, wanted.weight);
    EXPECT_EQ(quality.distinct_words, wanted.rows)
        << wanted.length << '/' << wanted.weight << '/' << wanted.rows;
  }
}

TEST(Cwc, BooksTooLargeToSearchAreStillDifferentWords) {
  Random random({.seed = 1});
  const CodeBook book = spread_words(24, 9, 20'000, random);
  std::set<uint64_t> words;
  for (size_t row = 0; row < book.rows(); ++row) {
    EXPECT_EQ(book.weight(row), 9U);
    words.insert(book.row(row)[0]);
  }
  EXPECT_EQ(words.size(), 20'000U);
}

TEST(Hadamard, WordsAreHalfTheOrderApart) {
  // Sylvester; Paley with q = 3, 11, 19; products; and all of them with complements.
  for (const size_t order : {4, 8, 12, 16, 20, 24, 40, 48, 128}) {
    const auto words = hadamard_words(order, order / 2, 2 * (order - 1));
    ASSERT_TRUE(words) << order;
    const BookQuality quality = measure(*words);
    EXPECT_EQ(quality.least_weight, order / 2) << order;
    EXPECT_EQ(quality.largest_weight, order / 2);
    EXPECT_EQ(*quality.least_distance, order / 2);
    EXPECT_EQ(quality.least_coverage, order - 1);  // a word or its complement keeps a unit
  }
}

TEST(Hadamard, WordsWithoutAColumnWeighTheSame) {
  for (const size_t weight : {31, 32}) {
    const BookQuality quality = measure(*hadamard_words(63, weight, 63));
    EXPECT_EQ(quality.least_weight, weight);
    EXPECT_EQ(quality.largest_weight, weight);
    EXPECT_EQ(*quality.least_distance, 32U);
  }
}

TEST(Hadamard, RefusesWhatItHasNot) {
  EXPECT_FALSE(hadamard_words(64, 31, 2));
  EXPECT_FALSE(hadamard_words(64, 32, 127));
  EXPECT_FALSE(hadamard_words(63, 32, 64));
  EXPECT_FALSE(hadamard_words(92, 46, 2));  // q = 91 = 7 * 13
  EXPECT_FALSE(hadamard_words(6, 3, 2));
}

}  // namespace
}  // namespace subfleet
