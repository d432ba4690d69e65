#include "codes/kasami.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>

namespace subfleet {
namespace {

std::set<int> correlations(const std::vector<Bits>& words, size_t every) {
  std::set<int> values;
  for (size_t i = 0; i < words.size(); i += every) {
    for (size_t j = 0; j < i; j += every) {
      for (size_t shift = 0; shift < words[i].size(); ++shift) {
        const Bits differing = xor_shifted(words[i], words[j], shift);
        values.insert(static_cast<int>(words[i].size()) -
                      2 * std::accumulate(differing.begin(), differing.end(), 0));
      }
    }
  }
  return values;
}

TEST(Kasami, CountsOfBalancedWords) {
  const std::map<int, size_t> balanced{{4, 27}, {6, 237}, {8, 1977}, {10, 16113}};
  for (const auto& [degree, count] : balanced) {
    const std::vector<Bits> words = kasami_words(degree);
    EXPECT_EQ(words.size(), size_t{1} << (3 * degree / 2));
    EXPECT_EQ(static_cast<size_t>(std::ranges::count_if(words, is_balanced)), count) << degree;
  }
}

TEST(Kasami, WordsAreDifferent) {
  const std::vector<Bits> words = kasami_words(8);
  EXPECT_EQ(std::set<Bits>(words.begin(), words.end()).size(), words.size());
}

TEST(Kasami, LargeSetHasFiveValuedCorrelation) {
  for (const auto& [degree, every] : std::map<int, size_t>{{4, 1}, {6, 11}, {8, 131}}) {
    const int root = 1 << (degree / 2);
    EXPECT_EQ(correlations(kasami_words(degree), every),
              (std::set<int>{-1 - 2 * root, -1 - root, -1, -1 + root, -1 + 2 * root}))
        << degree;
  }
}

TEST(Kasami, SmallSetMeetsTheWelchBoundButHasOneBalancedWord) {
  for (const int degree : {4, 6, 8}) {
    const std::vector<Bits> words = kasami_words(degree);
    std::vector<Bits> small;
    for (size_t i = 0; i < words.size(); i += size_t{1} << degree) small.push_back(words[i]);
    const int root = 1 << (degree / 2);
    EXPECT_EQ(correlations(small, 1), (std::set<int>{-1 - root, -1, -1 + root})) << degree;
    EXPECT_EQ(std::ranges::count_if(small, is_balanced), 1) << degree;
  }
}

}  // namespace
}  // namespace subfleet
