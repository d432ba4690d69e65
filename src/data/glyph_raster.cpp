#include "data/glyph_raster.h"

#include <algorithm>
#include <cmath>

namespace subfleet {
namespace {

struct Range {
  int first, last;
};

// The pixels whose centres may lie in [low, high].
Range pixels_between(float low, float high) {
  constexpr auto kSide = static_cast<float>(kGlyphSide);
  return {static_cast<int>(std::clamp(low, 0.0f, kSide)),
          static_cast<int>(std::clamp(high, -1.0f, kSide - 1.0f))};
}

}  // namespace

void GlyphCanvas::draw(const PenLine& line) {
  const float reach = line.half_width + softness_ / 2;
  const Range columns =
      pixels_between(std::min(line.x0, line.x1) - reach, std::max(line.x0, line.x1) + reach);
  const Range rows = pixels_between(std::min(line.y0, line.y1) - reach, std::max(line.y0, line.y1) + reach);
  const float dx = line.x1 - line.x0;
  const float dy = line.y1 - line.y0;
  const float length_squared = std::max(dx * dx + dy * dy, 1e-12f);
  const float along_x = dx / length_squared;
  const float along_y = dy / length_squared;
  const float per_pixel = 1 / softness_;
  const float at_centre = line.half_width * per_pixel + 0.5f;
  for (int row = rows.first; row <= rows.last; ++row) {
    const float y = static_cast<float>(row) + 0.5f - line.y0;
    float* const pixels = cover_.data() + static_cast<size_t>(row) * kGlyphSide;
    for (int column = columns.first; column <= columns.last; ++column) {
      const float x = static_cast<float>(column) + 0.5f - line.x0;
      const float t = std::clamp(x * along_x + y * along_y, 0.0f, 1.0f);
      const float ex = x - t * dx;
      const float ey = y - t * dy;
      const float cover = at_centre - std::sqrt(ex * ex + ey * ey) * per_pixel;
      pixels[column] = std::max(pixels[column], cover);
    }
  }
}

void GlyphCanvas::copy_to(std::span<float> image, float ink) const {
  for (size_t i = 0; i < kGlyphPixels; ++i) {
    image[i] = std::floor(std::min(cover_[i], 1.0f) * ink * 255.0f + 0.5f) / 255.0f;
  }
}

}  // namespace subfleet
