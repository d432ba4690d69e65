#include "subfleet/codes/quality.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "codes/gold.h"
#include "codes/words.h"
#include "subfleet/random.h"

namespace subfleet {
namespace {

CodeBook book_of(const std::vector<Bits>& words) {
  CodeBook book(words.size(), words[0].size());
  for (size_t row = 0; row < words.size(); ++row) {
    for (size_t column = 0; column < words[row].size(); ++column)
      book.set_bit(row, column, words[row][column] != 0);
  }
  return book;
}

TEST(Quality, OfAHandMadeBook) {
  const BookQuality quality =
      measure(book_of({{1, 1, 0, 0, 0}, {0, 1, 1, 0, 0}, {0, 1, 1, 0, 0}, {1, 1, 1, 0, 0}}));
  EXPECT_EQ(quality.rows, 4U);
  EXPECT_EQ(quality.length, 5U);
  EXPECT_EQ(quality.distinct_words, 3U);
  EXPECT_EQ(quality.least_weight, 2U);
  EXPECT_EQ(quality.largest_weight, 3U);
  EXPECT_EQ(*quality.least_distance, 0U);
  EXPECT_DOUBLE_EQ(*quality.mean_distance, (2 + 2 + 0 + 1 + 1 + 1) / 6.0);
  EXPECT_EQ(*quality.largest_overlap, 2U);
  EXPECT_DOUBLE_EQ(*quality.mean_overlap, (1 + 1 + 2 + 2 + 2 + 2) / 6.0);
  EXPECT_EQ(*quality.correlation, 5U);
  EXPECT_FALSE(quality.distance_bound);  // the weights differ
  EXPECT_EQ(quality.least_coverage, 0U);
  EXPECT_EQ(quality.largest_coverage, 4U);
  EXPECT_DOUBLE_EQ(quality.mean_coverage, 9 / 5.0);
  EXPECT_EQ(quality.uncovered_units, 2U);
}

TEST(Quality, OfASingleRowHasNoPairs) {
  const BookQuality quality = measure(book_of({{1, 0, 1}}));
  EXPECT_FALSE(quality.correlation);
  EXPECT_FALSE(quality.shifted_correlation);
  EXPECT_FALSE(quality.least_distance);
  EXPECT_FALSE(quality.largest_overlap);
  EXPECT_FALSE(quality.distance_bound);
}

TEST(Quality, ShiftedCorrelationAgreesWithPlainLoops) {
  Random random({.seed = 5});
  for (const size_t length : {1, 2, 63, 64, 65, 130}) {
    const size_t rows = length < 3 ? 1 + length / 2 : 6;
    const CodeBook book = random_words(length, (length + 1) / 2, rows, random);
    if (rows < 2) continue;
    long largest = 0;
    for (size_t a = 0; a < rows; ++a) {
      for (size_t b = 0; b < a; ++b) {
        for (size_t shift = 0; shift < length; ++shift) {
          long sum = 0;
          for (size_t j = 0; j < length; ++j)
            sum += book.bit(a, j) == book.bit(b, (j + shift) % length) ? 1 : -1;
          largest = std::max(largest, std::abs(sum));
        }
      }
    }
    EXPECT_EQ(*measure(book).shifted_correlation, static_cast<size_t>(largest)) << length;
  }
}

TEST(Quality, OfGoldWordsIsTheGoldBound) {
  EXPECT_EQ(*measure(book_of(gold_words(5))).shifted_correlation, 9U);
  EXPECT_EQ(*measure(book_of(gold_words(7))).shifted_correlation, 17U);
}

TEST(Quality, LargeBooksAreComparedInPart) {
  const BookQuality quality = measure(CodeBook(12'000, 64));
  EXPECT_LT(quality.pair_rows, 12'000U);
  EXPECT_LT(quality.shift_rows, quality.pair_rows);
  EXPECT_GE(quality.shift_rows, 2U);
}

}  // namespace
}  // namespace subfleet
