#include <gtest/gtest.h>

#include "codes/words.h"
#include "subfleet/codes.h"

namespace subfleet {
namespace {

TEST(CodeBook, SetsCountsAndListsBits) {
  CodeBook book(2, 130);
  for (const size_t column : {0, 63, 64, 129}) book.set_bit(1, column, true);
  book.set_bit(0, 64, true);
  EXPECT_TRUE(book.bit(1, 129));
  EXPECT_FALSE(book.bit(0, 129));
  EXPECT_EQ(book.weight(1), 4U);
  EXPECT_EQ(book.distance(0, 1), 3U);
  EXPECT_EQ(book.kept(1), (std::vector<uint32_t>{0, 63, 64, 129}));
  book.set_bit(1, 63, false);
  EXPECT_EQ(book.kept(1), (std::vector<uint32_t>{0, 64, 129}));
  EXPECT_EQ(book.row(1).size(), 3U);
}

TEST(Words, AreCounted) {
  EXPECT_EQ(count_words(5, 0), 1U);
  EXPECT_EQ(count_words(5, 5), 1U);
  EXPECT_EQ(count_words(49, 6), 13983816U);
  EXPECT_EQ(count_words(62, 31), 465428353255261088U);
  EXPECT_EQ(count_words(2048, 1024), uint64_t{1} << 63);
}

TEST(Words, ComeInLexicographicOrder) {
  const CodeBook words = lexicographic_words(5, 2);
  ASSERT_EQ(words.rows(), 10U);
  EXPECT_EQ(words.kept(0), (std::vector<uint32_t>{3, 4}));
  EXPECT_EQ(words.kept(1), (std::vector<uint32_t>{2, 4}));
  EXPECT_EQ(words.kept(2), (std::vector<uint32_t>{2, 3}));
  EXPECT_EQ(words.kept(3), (std::vector<uint32_t>{1, 4}));
  EXPECT_EQ(words.kept(9), (std::vector<uint32_t>{0, 1}));
}

}  // namespace
}  // namespace subfleet
