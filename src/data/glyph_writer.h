#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "data/glyph_curve.h"
#include "data/glyph_strokes.h"
#include "subfleet/random.h"

namespace subfleet {

// What makes one hand look different from another. Lengths are in stroke units (capitals are 100 high) if not
// stated otherwise.
struct WriterStyle {
  float slant = 0;       // horizontal shift per unit of height
  float tilt = 0;        // radians
  float width = 1;       // stretches letters horizontally
  float size = 1;        // of everything
  float small_size = 1;  // of small letters, on top of that
  CurveStyle curve;
  float reshaping = 0;      // how far this writer's own letter shapes stray from the drawn ones
  float tremor = 0;         // how far each sample strays from the writer's shape
  float shake = 0;          // pixels: roughness along the stroke
  float pen = 1;            // pixels: half the width of a stroke
  float nib = 0;            // how much the width depends on the direction
  float nib_angle = 0;      // radians
  float pressure_drop = 0;  // share of the width lost towards the end of a stroke
  float softness = 1;       // pixels: how far an edge fades
  float ink = 1;            // how dark the pen writes
  float skipping = 0;       // chance that the pen fails on a piece of a stroke
};

// One writer of the generated handwriting. Everything follows from (seed, writer).
class GlyphWriter {
 public:
  static constexpr uint32_t kFewestSamples = 20;
  static constexpr uint32_t kMostSamples = 700;

  // How many samples the writer has: skewed, about 200 on average.
  static uint32_t samples(uint64_t seed, uint32_t writer);

  GlyphWriter(const GlyphAlphabet& alphabet, uint64_t seed, uint32_t writer);

  const WriterStyle& style() const { return style_; }

  // Draws sample number `sample` into `image` (28 x 28, ink 1, paper 0); returns its class.
  uint32_t draw(uint32_t sample, std::span<float> image);

 private:
  uint32_t pick_class(Random& random) const;
  void trace(uint32_t label, Random& random);
  void place(uint32_t label, Random& random);
  void ink_in(Random& random, std::span<float> image) const;

  uint64_t seed_;
  uint32_t writer_;
  WriterStyle style_;
  std::array<float, kGlyphClasses> favour_{};  // cumulative; the last is 1
  std::array<std::vector<StrokePoint>, kGlyphClasses> shapes_;
  std::vector<StrokePoint> points_, pieces_;  // of the sample being drawn
};

}  // namespace subfleet
