#include "codes/lexicode.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "codes/words.h"
#include "subfleet/codes/quality.h"

namespace subfleet {
namespace {

size_t distance(const std::string& a, const std::string& b) {
  size_t differing = 0;
  for (size_t i = 0; i < a.size(); ++i) differing += a[i] != b[i];
  return differing;
}

// Algorithm 2 line by line, on strings.
std::vector<std::string> algorithm_2(size_t length, size_t weight, size_t rows, size_t most_steps,
                                     Random& random) {
  std::vector<std::string> all;
  std::string word = std::string(length - weight, '0') + std::string(weight, '1');
  do all.push_back(word);
  while (std::ranges::next_permutation(word).found);

  auto least = static_cast<long>(length);
  std::vector<std::string> left = all;
  std::vector<std::string> code{all[random.below(static_cast<uint32_t>(all.size()))]};
  for (size_t step = 0; step < most_steps; ++step) {
    std::erase_if(left, [&](const std::string& f) {
      return std::ranges::any_of(code,
                                 [&](const auto& c) { return static_cast<long>(distance(f, c)) < least; });
    });
    if (!left.empty()) {
      code.push_back(left.front());
    } else {
      least -= 2;
      left = all;
      code = {all[random.below(static_cast<uint32_t>(all.size()))]};
    }
    if (code.size() == rows) return code;
  }
  return code;
}

std::vector<std::string> strings(const CodeBook& book) {
  std::vector<std::string> words(book.rows());
  for (size_t row = 0; row < book.rows(); ++row) {
    for (size_t column = 0; column < book.length(); ++column) words[row] += book.bit(row, column) ? '1' : '0';
  }
  return words;
}

TEST(Lexicode, IsAlgorithm2ToTheLetter) {
  struct Case {
    size_t length, weight, rows;
  };
  for (const auto& [length, weight, rows] : {Case{7, 3, 7}, Case{7, 4, 20}, Case{8, 4, 14}, Case{8, 4, 70},
                                             Case{9, 3, 12}, Case{10, 2, 6}, Case{11, 8, 5}}) {
    for (uint64_t seed = 0; seed < 10; ++seed) {
      for (const size_t most_steps : {size_t{3}, size_t{10}, size_t{1000}}) {
        Random literal({.seed = seed});
        Random fast({.seed = seed});
        EXPECT_EQ(strings(lexicode({length, weight, rows, most_steps}, fast)),
                  algorithm_2(length, weight, rows, most_steps, literal))
            << length << ' ' << weight << ' ' << rows << " seed " << seed;
      }
    }
  }
}

struct KnownSize {
  size_t length, distance, weight, words;  // A(length, distance, weight) = words
};

size_t least_distance(const KnownSize& known, size_t rows, uint64_t seed) {
  Random random({.seed = seed});
  return *measure(lexicode({.length = known.length, .weight = known.weight, .rows = rows}, random))
              .least_distance;
}

// Brouwer, Shearer, Sloane and Smith, "A new table of constant weight codes", 1990. Whether the greedy choice
// finds a largest code depends on the random first word; from some it does.
TEST(Lexicode, ReachesKnownSizesAndNeverMore) {
  constexpr std::array kKnown{KnownSize{7, 4, 3, 7},   KnownSize{8, 4, 4, 14},  KnownSize{6, 4, 3, 4},
                              KnownSize{13, 6, 4, 13}, KnownSize{10, 6, 5, 6},  KnownSize{11, 6, 5, 11},
                              KnownSize{12, 6, 6, 22}, KnownSize{15, 4, 3, 35}, KnownSize{14, 4, 3, 28}};
  for (const KnownSize& known : kKnown) {
    size_t largest = 0;
    for (uint64_t seed = 0; seed < 20; ++seed) {
      largest = std::max(largest, least_distance(known, known.words, seed));
      EXPECT_LT(least_distance(known, known.words + 1, seed), known.distance);
    }
    EXPECT_EQ(largest, known.distance) << known.length << ' ' << known.distance << ' ' << known.weight;
  }
}

TEST(Lexicode, FindsEveryDisjointSetAndEveryWord) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    EXPECT_EQ(least_distance({13, 6, 3, 4}, 4, seed), 6U);   // A(n, 2w, w) = floor(n / w)
    EXPECT_EQ(least_distance({8, 2, 4, 70}, 70, seed), 2U);  // A(n, 2, w) = C(n, w)
    EXPECT_EQ(least_distance({9, 2, 2, 36}, 36, seed), 2U);
  }
}

}  // namespace
}  // namespace subfleet
