#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace subfleet {

inline constexpr size_t kGlyphSide = 28;
inline constexpr size_t kGlyphPixels = kGlyphSide * kGlyphSide;

// A straight piece of a stroke, in pixels; the centre of the first pixel is (0.5, 0.5).
struct PenLine {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  float half_width = 1;
};

// A 28 x 28 sheet on which lines with round ends are drawn. Ink does not add up where lines cross.
class GlyphCanvas {
 public:
  // The edge of a line fades over `softness` pixels.
  explicit GlyphCanvas(float softness) : softness_(softness) {}

  void draw(const PenLine& line);

  // The sheet with full ink at `ink` (at most 1) and paper at 0, in steps of 1/255.
  void copy_to(std::span<float> image, float ink) const;

 private:
  float softness_;
  std::array<float, kGlyphPixels> cover_{};
};

}  // namespace subfleet
