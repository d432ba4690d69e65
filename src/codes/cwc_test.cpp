#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <utility>

#include "codes/bounds.h"
#include "codes/hadamard.h"
#include "codes/lexicode.h"
#include "codes/spread.h"
#include "subfleet/codes.h"
#include "subfleet/codes/quality.h"

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

// The units that the fewest clients tell apart.
struct NearestUnits {
  size_t clients = std::numeric_limits<size_t>::max();  // that keep only one of the two
  std::set<std::pair<size_t, size_t>> pairs{};
};

NearestUnits nearest_units(const CodeBook& book) {
  NearestUnits nearest;
  for (size_t unit = 0; unit < book.length(); ++unit) {
    for (size_t other = 0; other < unit; ++other) {
      size_t clients = 0;
      for (size_t row = 0; row < book.rows(); ++row) clients += book.bit(row, unit) != book.bit(row, other);
      if (clients < nearest.clients) nearest = {.clients = clients};
      if (clients == nearest.clients) nearest.pairs.emplace(other, unit);
    }
  }
  return nearest;
}

TEST(Cwc, NoTwoUnitsAreKeptByTheSameClientsInAnyRound) {
  // A quarter of the clients is what independent random masks give at the least; the mean is half of them.
  for (const Case& wanted : {Case{64, 32, 35}, Case{63, 32, 35}, Case{96, 48, 35}, Case{128, 64, 35}}) {
    const double keep = static_cast<double>(wanted.weight) / static_cast<double>(wanted.length);
    std::set<std::set<std::pair<size_t, size_t>>> pairs;
    constexpr uint32_t kRounds = 20;
    for (uint32_t round = 0; round < kRounds; ++round) {
      const CodeBook book = code_family("cwc").draw(
          {.length = wanted.length, .rows = wanted.rows, .keep = keep, .seed = 1, .round = round});
      EXPECT_EQ(*measure(book).least_distance, (wanted.length + 1) / 2) << "Hadamard's distance, the best";
      const NearestUnits nearest = nearest_units(book);
      EXPECT_GE(nearest.clients, wanted.rows / 4) << wanted.length << ", round " << round;
      pairs.insert(nearest.pairs);
    }
    EXPECT_EQ(pairs.size(), kRounds) << "other units in every round";
  }
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
  const CodeBook book = *spread_words({.length = 24, .weight = 9, .rows = 20'000}, random);
  std::set<uint64_t> words;
  for (size_t row = 0; row < book.rows(); ++row) {
    EXPECT_EQ(book.weight(row), 9U);
    words.insert(book.row(row)[0]);
  }
  EXPECT_EQ(words.size(), 20'000U);
}

// All words, the complements last.
CodeBook all_words(const HadamardWords& words, size_t length) {
  CodeBook book(words.count(), length);
  for (size_t row = 0; row < book.rows(); ++row)
    words.write(row % words.rows(), row >= words.rows(), book.row(row));
  return book;
}

TEST(Hadamard, WordsAreHalfTheOrderApart) {
  // Sylvester; Paley with q = 3, 11, 19; products; and all of them with complements.
  for (const size_t order : {4, 8, 12, 16, 20, 24, 40, 48, 128}) {
    const auto words = HadamardWords::fitting(order, order / 2);
    ASSERT_TRUE(words) << order;
    EXPECT_EQ(words->count(), 2 * (order - 1));
    const BookQuality quality = measure(all_words(*words, order));
    EXPECT_EQ(quality.least_weight, order / 2) << order;
    EXPECT_EQ(quality.largest_weight, order / 2);
    EXPECT_EQ(*quality.least_distance, words->distance());
    EXPECT_EQ(quality.least_coverage, order - 1);  // a word or its complement keeps a unit
  }
}

TEST(Hadamard, WordsWithoutAColumnWeighTheSame) {
  for (const size_t weight : {31, 32}) {
    const auto words = HadamardWords::fitting(63, weight);
    ASSERT_TRUE(words);
    EXPECT_EQ(words->count(), 63U);
    const BookQuality quality = measure(all_words(*words, 63));
    EXPECT_EQ(quality.least_weight, weight);
    EXPECT_EQ(quality.largest_weight, weight);
    EXPECT_EQ(*quality.least_distance, words->distance());
  }
}

TEST(Hadamard, RefusesWhatItHasNot) {
  EXPECT_FALSE(HadamardWords::fitting(64, 31));
  EXPECT_FALSE(HadamardWords::fitting(92, 46));  // q = 91 = 7 * 13
  EXPECT_FALSE(HadamardWords::fitting(6, 3));
  EXPECT_FALSE(HadamardWords::fitting(0, 0));
}

TEST(Cwc, UsesHadamardRowsAndTheirComplementsOnce) {
  for (const size_t rows : {63, 64, 126}) {
    const BookQuality quality = draw_and_measure({64, 32, rows}, 3);
    EXPECT_EQ(quality.distinct_words, rows);
    EXPECT_EQ(*quality.least_distance, 32U);
  }
  EXPECT_EQ(draw_and_measure({64, 32, 127}, 3).distinct_words, 127U) << "more than there are";
}

}  // namespace
}  // namespace subfleet
