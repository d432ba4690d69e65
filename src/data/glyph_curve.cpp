#include "data/glyph_curve.h"

#include <algorithm>
#include <cmath>

namespace subfleet {
namespace {

constexpr float kPieceLength = 11.0f;
constexpr int kMostPieces = 5;

struct Vector {
  float x, y;
};

Vector between(const StrokePoint& from, const StrokePoint& to) { return {to.x - from.x, to.y - from.y}; }
Vector scaled(Vector v, float factor) { return {v.x * factor, v.y * factor}; }
Vector blend(Vector a, Vector b, float share) {
  return {a.x + (b.x - a.x) * share, a.y + (b.y - a.y) * share};
}

// Which way the pen moves at a point, and how much its neighbours decide that: at 0 the curve decides.
struct Tangent {
  Vector along;
  float settled;
};

Tangent tangent(std::span<const StrokePoint> stroke, size_t i, const CurveStyle& style) {
  if (i == 0 || i + 1 == stroke.size()) return {{0, 0}, 0};
  return {scaled(between(stroke[i - 1], stroke[i + 1]), style.tension),
          stroke[i].corner ? style.rounding : 1.0f};
}

// A free end of a curve bends on as its other end does; a curve free at both ends is straight.
Vector direction(Vector chord, const Tangent& here, const Tangent& there) {
  const Vector other = blend(chord, there.along, there.settled);
  const Vector natural{1.5f * chord.x - 0.5f * other.x, 1.5f * chord.y - 0.5f * other.y};
  return blend(natural, here.along, here.settled);
}

void flatten_stroke(std::span<const StrokePoint> stroke, const CurveStyle& style,
                    std::vector<StrokePoint>& pieces) {
  pieces.push_back({.x = stroke[0].x, .y = stroke[0].y});
  for (size_t i = 0; i + 1 < stroke.size(); ++i) {
    const StrokePoint& from = stroke[i];
    const StrokePoint& to = stroke[i + 1];
    const Vector chord = between(from, to);
    const Tangent start = tangent(stroke, i, style);
    const Tangent end = tangent(stroke, i + 1, style);
    const Vector leave = direction(chord, start, end);
    const Vector arrive = direction(chord, end, start);
    const float length = std::hypot(chord.x, chord.y);
    const int count = std::clamp(static_cast<int>(std::ceil(length / kPieceLength)), 1, kMostPieces);
    for (int step = 1; step <= count; ++step) {
      const float t = static_cast<float>(step) / static_cast<float>(count);
      const float t2 = t * t;
      const float t3 = t2 * t;
      const float a = 3 * t2 - 2 * t3;
      const float b = t3 - 2 * t2 + t;
      const float c = t3 - t2;
      pieces.push_back({.x = from.x + a * chord.x + b * leave.x + c * arrive.x,
                        .y = from.y + a * chord.y + b * leave.y + c * arrive.y});
    }
  }
  pieces.back().lift = true;
}

}  // namespace

void flatten(std::span<const StrokePoint> points, const CurveStyle& style, std::vector<StrokePoint>& pieces) {
  pieces.clear();
  size_t start = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    if (!points[i].lift) continue;
    flatten_stroke(points.subspan(start, i + 1 - start), style, pieces);
    start = i + 1;
  }
}

}  // namespace subfleet
