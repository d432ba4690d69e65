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

// A 28 x 28 sheet for lines with round ends. Crossing lines do not add up their ink.
class GlyphCanvas {
 public:
  // The edge of a line fades over `softness` pixels.
  explicit GlyphCanvas(float softness) : softness_(softness) {}

  void draw(const PenLine& line);

  // Copies the sheet, scaled so that full ink becomes `ink` (at most 1) and paper 0, in steps of 1/255.
  void copy_to(std::span<float> image, float ink) const;

 private:
  float softness_;
  std::array<float, kGlyphPixels> cover_{};
};

}  // namespace subfleet
