#include "data/glyph_raster.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace subfleet {
namespace {

using Image = std::array<float, kGlyphPixels>;

Image draw(const std::vector<PenLine>& lines, float softness = 1, float ink = 1) {
  GlyphCanvas canvas(softness);
  for (const PenLine& line : lines) canvas.draw(line);
  Image image;
  canvas.copy_to(image, ink);
  return image;
}

float at(const Image& image, size_t x, size_t y) { return image[y * kGlyphSide + x]; }

TEST(GlyphRaster, AHorizontalLineIsDarkInsideAndPaperOutside) {
  const Image image = draw({{.x0 = 5, .y0 = 14.5f, .x1 = 20, .y1 = 14.5f, .half_width = 1.5f}});
  EXPECT_EQ(at(image, 12, 14), 1);  // on the line
  EXPECT_EQ(at(image, 12, 13), 1);  // 1 pixel away, inside
  EXPECT_EQ(at(image, 12, 12), 0);  // 2 pixels away: half the width and half the softness
  EXPECT_EQ(at(image, 12, 20), 0);
  EXPECT_EQ(at(image, 25, 14), 0);
}

TEST(GlyphRaster, InkIsLengthTimesWidth) {
  const PenLine line{.x0 = 6, .y0 = 8, .x1 = 22, .y1 = 19, .half_width = 1.2f};
  float ink = 0;
  for (const float pixel : draw({line})) ink += pixel;
  const float length = std::hypot(16.0f, 11.0f);
  EXPECT_NEAR(ink, 2 * 1.2f * length + 3.1416f * 1.2f * 1.2f, 1.5f);
}

TEST(GlyphRaster, DoesNotDependOnOrderOrDirection) {
  const PenLine a{.x0 = 4, .y0 = 4, .x1 = 24, .y1 = 22, .half_width = 1};
  const PenLine b{.x0 = 22, .y0 = 5, .x1 = 6, .y1 = 20, .half_width = 1.7f};
  EXPECT_EQ(draw({a, b}), draw({b, a}));
  EXPECT_EQ(draw({a, a}), draw({a}));
  const Image forth = draw({b});
  const Image back = draw({{.x0 = b.x1, .y0 = b.y1, .x1 = b.x0, .y1 = b.y0, .half_width = b.half_width}});
  for (size_t i = 0; i < kGlyphPixels; ++i) EXPECT_NEAR(forth[i], back[i], 1.01f / 255);
}

TEST(GlyphRaster, PixelsAreBytesAndNeverDarkerThanTheInk) {
  for (const float pixel : draw({{.x0 = 3, .y0 = 3, .x1 = 25, .y1 = 21, .half_width = 2}}, 1.6f, 0.8f)) {
    EXPECT_GE(pixel, 0);
    EXPECT_LE(pixel, 0.8f + 1e-6f);
    EXPECT_NEAR(pixel * 255, std::round(pixel * 255), 1e-4);
  }
}

TEST(GlyphRaster, LinesOffTheSheetAreCutOff) {
  const Image image = draw({{.x0 = -90, .y0 = 14, .x1 = 90, .y1 = 14, .half_width = 1},
                            {.x0 = 40, .y0 = 40, .x1 = 60, .y1 = 1e6f, .half_width = 3},
                            {.x0 = -50, .y0 = -50, .x1 = -1e6f, .y1 = -30, .half_width = 3},
                            {.x0 = 7, .y0 = 5, .x1 = 7, .y1 = 5, .half_width = 1}});
  EXPECT_EQ(at(image, 0, 13), 1);
  EXPECT_EQ(at(image, 27, 13), 1);
  EXPECT_GT(at(image, 7, 5), 0);
  EXPECT_EQ(at(image, 27, 27), 0);
  EXPECT_EQ(at(image, 0, 0), 0);
}

}  // namespace
}  // namespace subfleet
