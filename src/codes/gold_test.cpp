#include "codes/gold.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "subfleet/codes.h"
#include "subfleet/codes/quality.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

constexpr std::array kDegrees{5, 6, 7, 9, 10, 11};  // of the paper; 8 has no preferred pair

int correlation(const Bits& a, const Bits& b, size_t shift) {
  const Bits differing = xor_shifted(a, b, shift);
  return static_cast<int>(a.size()) - 2 * std::accumulate(differing.begin(), differing.end(), 0);
}

std::set<int> correlations(const Bits& a, const Bits& b) {
  std::set<int> values;
  for (size_t shift = 0; shift < a.size(); ++shift) values.insert(correlation(a, b, shift));
  return values;
}

int gold_bound(int degree) { return (1 << ((degree + 2) / 2)) + 1; }

TEST(Gold, RegistersAreMaximal) {
  // An m-sequence is balanced and its autocorrelation is -1 at every shift but 0.
  for (const int degree : kDegrees) {
    const std::vector<Bits> words = gold_words(degree);
    for (const Bits& word : {words[0], words[1]}) {
      EXPECT_TRUE(is_balanced(word)) << degree;
      EXPECT_EQ(correlations(word, word), (std::set<int>{-1, static_cast<int>(word.size())})) << degree;
    }
  }
}

// The paper's table, with 1 + x + x^6 for the misprinted 1 + x^6.
TEST(Gold, RegistersObeyThePolynomialsOfThePaper) {
  const std::map<int, std::array<std::vector<size_t>, 2>> exponents{
      {5, {{{0, 2, 5}, {0, 2, 3, 4, 5}}}},    {6, {{{0, 1, 6}, {0, 1, 2, 5, 6}}}},
      {7, {{{0, 3, 7}, {0, 1, 2, 3, 7}}}},    {9, {{{0, 4, 9}, {0, 3, 4, 6, 9}}}},
      {10, {{{0, 3, 10}, {0, 2, 3, 8, 10}}}}, {11, {{{0, 2, 5, 8, 11}, {0, 2, 11}}}}};
  for (const auto& [degree, pair] : exponents) {
    const std::vector<Bits> words = gold_words(degree);
    for (size_t which : {0, 1}) {
      for (size_t t = 0; t < words[which].size(); ++t) {
        int sum = 0;
        for (const size_t k : pair[which]) sum += words[which][(t + k) % words[which].size()];
        ASSERT_EQ(sum % 2, 0) << degree;
      }
    }
  }
}

TEST(Gold, MisprintedPolynomialIsNotPrimitive) {
  const Bits bits = shift_register(std::array{0, 6});
  EXPECT_FALSE(is_balanced(bits));
  for (size_t t = 0; t + 6 < bits.size(); ++t) EXPECT_EQ(bits[t], bits[t + 6]) << t;  // period 6, not 63
}

TEST(Gold, PairsOfEveryDegreeHaveThreeValuedCorrelation) {
  for (const int degree : kDegrees) {
    const std::vector<Bits> words = gold_words(degree);
    const int bound = gold_bound(degree);
    EXPECT_EQ(words.size(), (size_t{1} << degree) + 1);
    EXPECT_EQ(correlations(words[0], words[1]), (std::set<int>{-bound, -1, bound - 2})) << degree;
  }
}

TEST(Gold, AllWordsKeepTheThreeValuesAndTheBound) {
  for (const int degree : {5, 6}) {
    const std::vector<Bits> words = gold_words(degree);
    const int bound = gold_bound(degree);
    std::set<int> values;
    for (size_t i = 0; i < words.size(); ++i) {
      for (size_t j = 0; j < i; ++j) values.merge(correlations(words[i], words[j]));
    }
    EXPECT_EQ(values, (std::set<int>{-bound, -1, bound - 2})) << degree;
  }
}

TEST(Gold, CountsOfBalancedWords) {
  for (const int degree : kDegrees) {
    const std::vector<Bits> words = gold_words(degree);
    const size_t expected =
        degree % 2 == 1 ? (size_t{1} << (degree - 1)) + 1 : 3 * (size_t{1} << (degree - 2)) + 1;
    EXPECT_EQ(static_cast<size_t>(std::ranges::count_if(words, is_balanced)), expected) << degree;
  }
}

TEST(Gold, DegreeEightIsNihosPairWithFourValuedCorrelation) {
  const std::vector<Bits> words = gold_words(8);
  ASSERT_EQ(words.size(), 257U);
  for (const Bits& word : {words[0], words[1]}) {
    EXPECT_EQ(correlations(word, word), (std::set<int>{-1, 255}));
  }
  const std::set<int> four{-17, -1, 15, 31};
  EXPECT_EQ(correlations(words[0], words[1]), four);
  std::set<int> values;
  for (size_t i = 1; i < words.size(); i += 17) {
    for (size_t j = 0; j < i; ++j) values.merge(correlations(words[i], words[j]));
  }
  EXPECT_EQ(values, four);
  EXPECT_LE(*values.rbegin(), gold_bound(8));
  EXPECT_EQ(std::ranges::count_if(words, is_balanced), 121);
}

TEST(Gold, PaddingFollowsTheLongestCircularRunOfZeros) {
  EXPECT_EQ(pad_longest_run({1, 0, 0, 1, 0, 1}), (Bits{1, 0, 0, 0, 1, 0, 1}));
  EXPECT_EQ(pad_longest_run({0, 0, 1, 1, 0, 0, 1, 0}), (Bits{0, 0, 0, 1, 1, 0, 0, 1, 0}));  // round the end
  EXPECT_EQ(pad_longest_run({1, 0, 1, 1, 0}), (Bits{1, 0, 0, 1, 1, 0}));  // the first of two
  EXPECT_EQ(pad_longest_run({1, 1, 0}), (Bits{1, 1, 0, 0}));
  EXPECT_EQ(pad_longest_run({0, 1, 1}), (Bits{0, 0, 1, 1}));
}

TEST(Gold, MasksAreTheBalancedWords) {
  for (const auto& [length, words] :
       std::map<size_t, size_t>{{31, 17}, {32, 17}, {63, 49}, {64, 49}, {255, 121}, {256, 121}}) {
    const CodeBook book = code_family("gold").draw({.length = length, .rows = words});
    const BookQuality quality = measure(book);
    EXPECT_EQ(quality.distinct_words, words) << length;
    EXPECT_EQ(quality.least_weight, (length + 1) / 2);
    EXPECT_EQ(quality.largest_weight, (length + 1) / 2);
  }
}

TEST(Gold, UnpaddedMasksKeepTheBoundAtShiftZero) {
  const CodeBook book = code_family("gold").draw({.length = 2047, .rows = 100, .seed = 3, .round = 5});
  for (size_t row = 1; row < book.rows(); ++row) {
    for (size_t other = 0; other < row; ++other) {
      const auto distance = static_cast<int>(book.distance(row, other));
      ASSERT_LE(std::abs(2047 - 2 * distance), gold_bound(11));
    }
  }
}

TEST(Gold, SaysWhatItCannotMeetAndWhatCan) {
  const auto message = [](size_t length, double keep) -> std::string {
    try {
      code_family("gold").draw({.length = length, .rows = 35, .keep = keep});
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), Error::Kind::kRequest);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(
      message(100, 0.5),
      "gold: length 100 is not 2^n or 2^n - 1 for n in 5, 6, 7, 8, 9, 10, 11; nearest: 64, 128 (unpadded: "
      "63, 127); "
      "balanced, legendre, cwc and random take any length");
  EXPECT_NE(message(200, 0.5).find("nearest: 128, 256 "), std::string::npos);
  EXPECT_NE(message(1, 0.5).find("nearest: 32 "), std::string::npos);
  EXPECT_NE(message(9999, 0.5).find("nearest: 2048 "), std::string::npos);
  EXPECT_NE(message(64, 0.3).find("cwc and random"), std::string::npos);
}

}  // namespace
}  // namespace subfleet
