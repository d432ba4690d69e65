#include "codes/bounds.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "codes/words.h"

namespace subfleet {
namespace {

struct KnownSize {
  size_t length, distance, weight, words;  // A(length, distance, weight) = words
};

TEST(Bounds, JohnsonIsTightInTheClassicalCases) {
  for (const auto& [length, distance, weight, words] :
       {KnownSize{7, 4, 3, 7}, KnownSize{8, 4, 4, 14}, KnownSize{6, 4, 3, 4}, KnownSize{5, 4, 2, 2},
        KnownSize{9, 4, 3, 12}, KnownSize{13, 6, 4, 13}, KnownSize{10, 4, 4, 30}, KnownSize{11, 4, 5, 66},
        KnownSize{12, 4, 6, 132}, KnownSize{12, 6, 6, 22}, KnownSize{16, 6, 6, 112}, KnownSize{16, 8, 8, 30},
        KnownSize{13, 6, 3, 4}, KnownSize{8, 2, 4, 70}}) {
    EXPECT_EQ(johnson_bound(length, distance, weight), words) << length << ' ' << distance << ' ' << weight;
  }
}

TEST(Bounds, JohnsonIsNeverBelowWhatIsKnown) {
  for (const auto& [length, distance, weight, words] :
       {KnownSize{12, 4, 5, 80}, KnownSize{11, 4, 4, 35}, KnownSize{13, 6, 5, 18}, KnownSize{14, 6, 7, 42},
        KnownSize{12, 6, 5, 12}, KnownSize{13, 4, 5, 123}}) {
    EXPECT_GE(johnson_bound(length, distance, weight), words) << length << ' ' << distance << ' ' << weight;
  }
}

// The largest least distance of `rows` words, by trying all sets that hold the first word.
size_t best_distance(const CodeBook& words, std::vector<size_t>& chosen, size_t rows, size_t least) {
  if (chosen.size() == rows) return least;
  size_t best = 0;
  for (size_t next = chosen.back() + 1; next < words.rows(); ++next) {
    size_t with_next = least;
    for (const size_t c : chosen) with_next = std::min(with_next, words.distance(next, c));
    chosen.push_back(next);
    best = std::max(best, best_distance(words, chosen, rows, with_next));
    chosen.pop_back();
  }
  return best;
}

TEST(Bounds, LeastDistanceIsNeverBelowTheBest) {
  size_t tight = 0;
  size_t cases = 0;
  for (size_t length = 2; length <= 6; ++length) {
    for (size_t weight = 1; weight < length; ++weight) {
      const CodeBook words = lexicographic_words(length, weight);
      for (size_t rows = 2; rows <= std::min<size_t>(5, words.rows()); ++rows) {
        std::vector<size_t> chosen{0};
        const size_t best = best_distance(words, chosen, rows, 2 * length);
        const size_t bound = least_distance_bound(length, weight, rows);
        EXPECT_GE(bound, best) << length << ' ' << weight << ' ' << rows;
        tight += bound == best;
        ++cases;
      }
    }
  }
  EXPECT_GE(tight * 10, cases * 9);
}

TEST(Bounds, KnownDistances) {
  EXPECT_EQ(least_distance_bound(64, 32, 35), 32U);
  EXPECT_EQ(least_distance_bound(100, 25, 10), 40U);
  EXPECT_EQ(least_distance_bound(100, 25, 2), 50U);
  EXPECT_EQ(least_distance_bound(100, 75, 2), 50U);
  EXPECT_EQ(least_distance_bound(4, 2, 7), 0U);  // there are but 6 words
}

}  // namespace
}  // namespace subfleet
