#include "data/glyph_strokes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace subfleet {
namespace {

TEST(GlyphStrokes, EveryClassHasAShapeAndHalfOfThemSeveral) {
  const GlyphAlphabet alphabet = glyph_alphabet();
  size_t several = 0;
  for (uint32_t label = 0; label < kGlyphClasses; ++label) {
    EXPECT_GE(alphabet[label].size(), 1u) << character_name(label);
    several += alphabet[label].size() > 1;
  }
  EXPECT_GE(several, kGlyphClasses / 2);
}

TEST(GlyphStrokes, StrokesHaveTwoPointsInsideTheBox) {
  const GlyphAlphabet alphabet = glyph_alphabet();
  for (uint32_t label = 0; label < kGlyphClasses; ++label) {
    for (const GlyphShape& shape : alphabet[label]) {
      EXPECT_GT(shape.weight, 0) << character_name(label);
      ASSERT_FALSE(shape.points.empty());
      EXPECT_TRUE(shape.points.back().lift) << character_name(label);
      size_t length = 0;
      for (const StrokePoint& point : shape.points) {
        ++length;
        EXPECT_TRUE(point.x >= 0 && point.x <= 80) << character_name(label) << " x " << point.x;
        EXPECT_TRUE(point.y >= 0 && point.y <= 140) << character_name(label) << " y " << point.y;
        if (!point.lift) continue;
        EXPECT_GE(length, 2u) << character_name(label);
        length = 0;
      }
    }
  }
}

TEST(GlyphStrokes, NoTwoShapesAreTheSameButOneAndIAndL) {
  const GlyphAlphabet alphabet = glyph_alphabet();
  std::set<std::vector<std::pair<float, float>>> seen;
  size_t shapes = 0;
  for (uint32_t label = 0; label < kGlyphClasses; ++label) {
    for (const GlyphShape& shape : alphabet[label]) {
      std::vector<std::pair<float, float>> key;
      for (const StrokePoint& point : shape.points) key.emplace_back(point.x, point.y);
      seen.insert(key);
      ++shapes;
    }
  }
  EXPECT_GE(seen.size() + 1, shapes);
}

TEST(GlyphStrokes, CapitalsStandOnTheBaseLineAndSmallLettersAreSmaller) {
  const GlyphAlphabet alphabet = glyph_alphabet();
  const auto lowest = [&](uint32_t label) {
    const auto& points = alphabet[label].front().points;
    return std::max_element(points.begin(), points.end(), [](auto& a, auto& b) { return a.y < b.y; })->y;
  };
  const auto highest = [&](uint32_t label) {
    const auto& points = alphabet[label].front().points;
    return std::min_element(points.begin(), points.end(), [](auto& a, auto& b) { return a.y < b.y; })->y;
  };
  for (uint32_t label = 10; label < 36; ++label) {
    EXPECT_NEAR(lowest(label), 100, 6) << character_name(label);
    EXPECT_NEAR(highest(label), 0, 6) << character_name(label);
  }
  for (const char c : {'a', 'c', 'e', 'm', 'n', 'o', 'r', 's', 'u', 'v', 'w', 'x', 'z'}) {
    EXPECT_GE(highest(36 + static_cast<uint32_t>(c - 'a')), 40) << c;
  }
}

TEST(GlyphStrokes, NamesFollowFemnist) {
  EXPECT_EQ(character_name(0), "0");
  EXPECT_EQ(character_name(9), "9");
  EXPECT_EQ(character_name(10), "A");
  EXPECT_EQ(character_name(35), "Z");
  EXPECT_EQ(character_name(36), "a");
  EXPECT_EQ(character_name(61), "z");
  EXPECT_EQ(character_name(62), "62");
}

}  // namespace
}  // namespace subfleet
