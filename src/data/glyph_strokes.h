#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace subfleet {

inline constexpr uint32_t kGlyphClasses = 62;  // 0-9, A-Z, a-z

// A point that the pen passes; y points down. Capitals reach from 0 to the base line at 100, small letters
// begin at about 45, and descenders end at 140.
struct StrokePoint {
  float x = 0, y = 0;
  bool corner = false;  // the pen turns sharply here
  bool lift = false;    // the last point of a stroke
};

// One way of writing a character: its strokes, one after the other.
struct GlyphShape {
  float weight = 1;  // how common it is among the shapes of its class
  std::vector<StrokePoint> points;
};

// The shapes of every class, by label.
using GlyphAlphabet = std::array<std::vector<GlyphShape>, kGlyphClasses>;
GlyphAlphabet glyph_alphabet();

// "0" ... "z"; from 62 on, the number itself.
std::string character_name(uint32_t label);

}  // namespace subfleet
