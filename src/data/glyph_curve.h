#pragma once

#include <span>
#include <vector>

#include "data/glyph_strokes.h"

namespace subfleet {

// How a hand moves from point to point.
struct CurveStyle {
  float tension = 0.5f;   // length of the tangents; 0.5 is Catmull-Rom, less is more angular
  float rounding = 0.0f;  // 0: sharp corners; 1: corners as smooth as the rest
};

// Replaces `pieces` by short straight pieces along cubic Hermite curves through the points. Their points
// carry `lift` where the pen goes up.
void flatten(std::span<const StrokePoint> points, const CurveStyle& style, std::vector<StrokePoint>& pieces);

}  // namespace subfleet
