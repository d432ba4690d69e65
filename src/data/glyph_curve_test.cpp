#include "data/glyph_curve.h"

#include <gtest/gtest.h>

#include <cmath>

namespace subfleet {
namespace {

using Points = std::vector<StrokePoint>;

const Points kZigzag{{.x = 0, .y = 0},
                     {.x = 30, .y = 100, .corner = true},
                     {.x = 60, .y = 0, .lift = true},
                     {.x = 0, .y = 50},
                     {.x = 60, .y = 50, .lift = true}};

bool passes(const Points& pieces, const StrokePoint& point) {
  for (const StrokePoint& piece : pieces) {
    if (std::hypot(piece.x - point.x, piece.y - point.y) < 1e-3f) return true;
  }
  return false;
}

float farthest_from_segment(const Points& pieces, const StrokePoint& a, const StrokePoint& b) {
  float farthest = 0;
  for (const StrokePoint& piece : pieces) {
    const float dx = b.x - a.x;
    const float dy = b.y - a.y;
    farthest = std::max(farthest, std::abs((piece.x - a.x) * dy - (piece.y - a.y) * dx) / std::hypot(dx, dy));
  }
  return farthest;
}

TEST(GlyphCurve, PassesThroughEveryPointWhateverTheStyle) {
  Points pieces;
  for (const float tension : {0.3f, 0.5f, 0.75f}) {
    for (const float rounding : {0.0f, 0.5f, 1.0f}) {
      flatten(kZigzag, {.tension = tension, .rounding = rounding}, pieces);
      for (const StrokePoint& point : kZigzag) EXPECT_TRUE(passes(pieces, point));
    }
  }
}

TEST(GlyphCurve, LiftsThePenOnceAStroke) {
  Points pieces;
  flatten(kZigzag, {}, pieces);
  size_t lifts = 0;
  for (const StrokePoint& piece : pieces) lifts += piece.lift;
  EXPECT_EQ(lifts, 2u);
  EXPECT_TRUE(pieces.back().lift);
}

TEST(GlyphCurve, StraightBetweenSharpCornersOnly) {
  const Points sharp{{.x = 0, .y = 0}, {.x = 30, .y = 100, .corner = true}, {.x = 60, .y = 0, .lift = true}};
  Points pieces;
  flatten(sharp, {.tension = 0.5f, .rounding = 0}, pieces);
  const Points down(pieces.begin(), pieces.begin() + static_cast<ptrdiff_t>(pieces.size() / 2));
  EXPECT_LT(farthest_from_segment(down, sharp[0], sharp[1]), 1e-3f);
  flatten(sharp, {.tension = 0.5f, .rounding = 1}, pieces);
  const Points round(pieces.begin(), pieces.begin() + static_cast<ptrdiff_t>(pieces.size() / 2));
  EXPECT_GT(farthest_from_segment(round, sharp[0], sharp[1]), 1.0f);
}

TEST(GlyphCurve, EightPointsOfACircleMakeARoundCircle) {
  Points circle;
  for (int i = 0; i <= 8; ++i) {
    const float angle = static_cast<float>(i) * 0.785398f;
    circle.push_back({.x = 50 * std::cos(angle), .y = 50 * std::sin(angle), .lift = i == 8});
  }
  Points pieces;
  flatten(circle, {.tension = 0.55f, .rounding = 0}, pieces);
  for (const StrokePoint& piece : pieces) EXPECT_NEAR(std::hypot(piece.x, piece.y), 50, 1.5);
}

}  // namespace
}  // namespace subfleet
