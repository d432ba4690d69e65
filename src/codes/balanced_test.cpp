#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "codes/families.h"
#include "codes/words.h"
#include "subfleet/codes/quality.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

std::string name_of(const BookRequest& request) {
  return std::to_string(request.length) + " units, " + std::to_string(request.rows) + " rows, keep " +
         std::to_string(request.keep);
}

// Everything that is promised for any request.
void expect_balanced(const BookRequest& request) {
  const CodeBook book = balanced_family().draw(request);
  const size_t weight = balanced_family().weight(request.length, request.keep);
  const BookQuality quality = measure(book, Shifts::kNone);
  EXPECT_EQ(quality.least_weight, weight) << name_of(request);
  EXPECT_EQ(quality.largest_weight, weight) << name_of(request);
  const size_t ones = request.rows * weight;
  EXPECT_EQ(quality.least_coverage, ones / request.length) << name_of(request);
  EXPECT_EQ(quality.largest_coverage, (ones + request.length - 1) / request.length) << name_of(request);
  EXPECT_EQ(quality.distinct_words, std::min<uint64_t>(request.rows, count_words(request.length, weight)))
      << name_of(request);
}

TEST(Balanced, EveryUnitIsKeptEquallyOftenGiveOrTakeOne) {
  for (const size_t length : {1, 3, 7, 16, 64, 100, 257, 1000}) {
    for (const size_t rows : {1, 3, 17, 35, 100}) {
      for (const double keep : {0.001, 0.1, 0.25, 0.3, 1.0 / 3, 0.5, 0.62, 0.75, 0.99, 1.0})
        expect_balanced({.length = length, .rows = rows, .keep = keep, .seed = 3, .round = 2});
    }
  }
}

TEST(Balanced, HoldsForOddRequests) {
  for (const BookRequest& request : {
           BookRequest{.length = 7, .rows = 3, .keep = 0.3},
           BookRequest{.length = 2048, .rows = 1, .keep = 0.5},
           BookRequest{.length = 2048, .rows = 35, .keep = 1},
           BookRequest{.length = 2048, .rows = 35, .keep = 1e-9},    // one unit remains
           BookRequest{.length = 100, .rows = 250, .keep = 0.01},    // and every word is used twice or more
           BookRequest{.length = 6, .rows = 19, .keep = 0.5},        // all words but one
           BookRequest{.length = 6, .rows = 21, .keep = 0.5},        // one word twice
           BookRequest{.length = 7, .rows = 1000, .keep = 0.4},      // 28 times all 35 and 20 more
           BookRequest{.length = 10, .rows = 251, .keep = 0.5},      // of 252, more than `legendre` has
           BookRequest{.length = 64, .rows = 1000, .keep = 0.25},    //
           BookRequest{.length = 2048, .rows = 1000, .keep = 0.75},  // too many to trade
           BookRequest{.length = 50'000, .rows = 35, .keep = 0.5},
       }) {
    expect_balanced(request);
  }
}

TEST(Balanced, HoldsForEverySmallBook) {
  for (size_t length = 1; length <= 6; ++length) {
    for (size_t weight = 1; weight <= length; ++weight) {
      const double keep = static_cast<double>(weight) / static_cast<double>(length);
      for (size_t rows = 1; rows <= 2 * count_words(length, weight) + 1; ++rows)
        expect_balanced({.length = length, .rows = rows, .keep = keep, .seed = rows});
    }
  }
}

TEST(Balanced, AsManyWordsAsFillTheUnitsAreDisjoint) {
  const CodeBook halves = balanced_family().draw({.length = 100, .rows = 2, .keep = 0.5});
  EXPECT_EQ(halves.distance(0, 1), 100U);
  const CodeBook quarters = balanced_family().draw({.length = 2048, .rows = 4, .keep = 0.25});
  for (size_t row = 1; row < 4; ++row) {
    for (size_t other = 0; other < row; ++other) EXPECT_EQ(quarters.distance(row, other), 1024U);
  }
}

TEST(Balanced, MeanOverlapIsTheLeastThereIs) {
  // 35 words of 1024 of 2048 units: 17 or 18 clients for each unit, half of the units each.
  const BookQuality quality = measure(balanced_family().draw({.length = 2048, .rows = 35}), Shifts::kNone);
  const double pairs = 35.0 * 34 / 2;
  EXPECT_DOUBLE_EQ(*quality.mean_overlap, 1024.0 * (17.0 * 16 / 2 + 18.0 * 17 / 2) / pairs);
}

TEST(Balanced, OverlapsAreAlmostEven) {
  for (const size_t length : {100, 512, 1000, 2048, 3000}) {
    for (const double keep : {0.25, 0.3, 0.5, 0.75}) {
      for (uint32_t round = 0; round < 3; ++round) {
        const BookRequest request{.length = length, .rows = 35, .keep = keep, .seed = 1, .round = round};
        const BookQuality quality = measure(balanced_family().draw(request), Shifts::kNone);
        const BookQuality random = measure(random_family().draw(request), Shifts::kNone);
        EXPECT_LE(static_cast<double>(*quality.largest_overlap), *quality.mean_overlap + 5)
            << name_of(request);
        EXPECT_LT(*quality.largest_overlap, *random.largest_overlap) << name_of(request);
        EXPECT_LT(*quality.mean_overlap, *random.mean_overlap) << name_of(request);
      }
    }
  }
}

TEST(Balanced, UnitsThatAreKeptOnceMoreChangeFromRoundToRound) {
  // Two words of 3 of 7 units leave one unit without; it is not always the same.
  std::set<size_t> left_out;
  for (uint32_t round = 0; round < 60; ++round) {
    const CodeBook book = balanced_family().draw({.length = 7, .rows = 2, .keep = 3.0 / 7, .round = round});
    for (size_t unit = 0; unit < 7; ++unit) {
      if (!book.bit(0, unit) && !book.bit(1, unit)) left_out.insert(unit);
    }
  }
  EXPECT_EQ(left_out.size(), 7U);
}

TEST(Balanced, SaysWhatIsWrongInOneLine) {
  try {
    balanced_family().draw({.length = 10, .rows = 2, .keep = 1.5});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "balanced: keep 1.5 is not a fraction above 0 and up to 1");
  }
}

}  // namespace
}  // namespace subfleet
