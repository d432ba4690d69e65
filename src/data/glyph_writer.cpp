#include "data/glyph_writer.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "data/glyph_raster.h"

namespace subfleet {
namespace {

constexpr uint32_t kDigits = 10;
constexpr uint32_t kFirstSmall = 36;

// Streams of one writer, as the `round` of their key.
constexpr uint32_t kHowMuch = 0, kStyle = 1, kFavourites = 2, kShapes = 3;

constexpr double kMeanSamples = 204;  // before clipping
constexpr double kSamplesSpread = 0.55;

constexpr float kDigitFavour = 2.5f;
constexpr double kFavourSpread = 0.9;

// Where a character lands on the sheet. Characters are scaled towards one size and moved towards the middle,
// but not all the way: what survives tells c from C and p from P, mostly.
constexpr float kFullSize = 19.0f;  // pixels of a character 100 high
constexpr float kLargest = 26.0f;   // pixels, the pen's width included
constexpr float kSizeSurvives = 0.22f;
constexpr float kHeightSurvives = 0.1f;
constexpr float kUsualCentre = 60.0f;  // the height at which a character is neither raised nor lowered

// What changes from sample to sample.
constexpr float kSlantJitter = 0.09f;
constexpr float kTiltJitter = 0.07f;
constexpr float kWidthJitter = 0.09f;
constexpr float kSizeJitter = 0.08f;
constexpr float kPlaceJitter = 1.2f;  // pixels
constexpr float kPenJitter = 0.08f;

Random writer_random(uint64_t seed, uint32_t writer, uint32_t stream) {
  return Random({.seed = seed, .round = stream, .client = writer, .purpose = Purpose::kGlyphWriter});
}

// Nearly normal, bounded at 3.5 deviations, and cheap: the sum of four bytes.
float wobble(Random& random) {
  const uint32_t bits = random.next_u32();
  const uint32_t pairs = (bits & 0x00FF00FFu) + ((bits >> 8) & 0x00FF00FFu);
  const uint32_t sum = (pairs & 0xFFFFu) + (pairs >> 16);
  return (static_cast<float>(sum) - 510.0f) / 147.8f;
}

float about(Random& random, float centre, float spread) { return centre + spread * wobble(random); }

float ratio_about(Random& random, float centre, float spread) {
  return centre * std::exp(spread * wobble(random));
}

WriterStyle make_style(Random random) {
  WriterStyle style;
  style.slant = about(random, 0.12f, 0.24f);
  style.tilt = about(random, 0.0f, 0.07f);
  style.width = ratio_about(random, 0.97f, 0.19f);
  style.size = ratio_about(random, 0.95f, 0.14f);
  style.small_size = ratio_about(random, 1.0f, 0.07f);
  style.curve.tension = std::clamp(ratio_about(random, 0.55f, 0.16f), 0.35f, 0.75f);
  style.curve.rounding = std::clamp(about(random, 0.15f, 0.22f), 0.0f, 0.7f);
  style.reshaping = ratio_about(random, 5.5f, 0.25f);
  style.tremor = ratio_about(random, 1.9f, 0.35f);
  style.shake = ratio_about(random, 0.10f, 0.55f);
  style.pen = std::clamp(ratio_about(random, 1.05f, 0.22f), 0.65f, 1.8f);
  style.nib = std::clamp(about(random, 0.1f, 0.2f), 0.0f, 0.5f);
  style.nib_angle = static_cast<float>(random.uniform(0, std::numbers::pi));
  style.pressure_drop = std::clamp(about(random, 0.1f, 0.15f), 0.0f, 0.4f);
  style.softness = static_cast<float>(random.uniform(1.0, 1.7));
  style.ink = static_cast<float>(random.uniform(0.8, 1.0));
  style.skipping = std::clamp(about(random, 0.0f, 0.008f), 0.0f, 0.02f);
  return style;
}

const GlyphShape& pick_shape(const std::vector<GlyphShape>& shapes, Random& random) {
  float total = 0;
  for (const GlyphShape& shape : shapes) total += shape.weight;
  float left = static_cast<float>(random.uniform()) * total;
  for (const GlyphShape& shape : shapes) {
    left -= shape.weight;
    if (left < 0) return shape;
  }
  return shapes.back();
}

// Moves every point by about `distance`, neighbours in much the same direction, so that lines stay smooth.
void stray(std::vector<StrokePoint>& points, float distance, Random& random) {
  constexpr float kCarry = 0.6f;
  constexpr float kFresh = 0.8f;  // kCarry^2 + kFresh^2 = 1
  float x = wobble(random);
  float y = wobble(random);
  for (StrokePoint& point : points) {
    point.x += distance * x;
    point.y += distance * y;
    x = kCarry * x + kFresh * wobble(random);
    y = kCarry * y + kFresh * wobble(random);
  }
}

struct Box {
  float left = 1e9f, right = -1e9f, top = 1e9f, bottom = -1e9f;
};

Box bounds(std::span<const StrokePoint> points) {
  Box box;
  for (const StrokePoint& point : points) {
    box.left = std::min(box.left, point.x);
    box.right = std::max(box.right, point.x);
    box.top = std::min(box.top, point.y);
    box.bottom = std::max(box.bottom, point.y);
  }
  return box;
}

}  // namespace

uint32_t GlyphWriter::samples(uint64_t seed, uint32_t writer) {
  Random random = writer_random(seed, writer, kHowMuch);
  const double log_mean = std::log(kMeanSamples) - kSamplesSpread * kSamplesSpread / 2;
  const double drawn = std::exp(log_mean + kSamplesSpread * random.normal());
  return static_cast<uint32_t>(std::clamp(std::round(drawn), double{kFewestSamples}, double{kMostSamples}));
}

GlyphWriter::GlyphWriter(const GlyphAlphabet& alphabet, uint64_t seed, uint32_t writer)
    : seed_(seed), writer_(writer), style_(make_style(writer_random(seed, writer, kStyle))) {
  Random favourites = writer_random(seed, writer, kFavourites);
  float total = 0;
  for (uint32_t label = 0; label < kGlyphClasses; ++label) {
    const float common = label < kDigits ? kDigitFavour : 1.0f;
    total += common * static_cast<float>(std::exp(kFavourSpread * favourites.normal()));
    favour_[label] = total;
  }
  for (float& favour : favour_) favour /= total;

  Random shaping = writer_random(seed, writer, kShapes);
  for (uint32_t label = 0; label < kGlyphClasses; ++label) {
    shapes_[label] = pick_shape(alphabet[label], shaping).points;
    stray(shapes_[label], style_.reshaping, shaping);
  }
}

uint32_t GlyphWriter::draw(uint32_t sample, std::span<float> image) {
  Random random({.seed = seed_, .round = sample, .client = writer_, .purpose = Purpose::kGlyphSample});
  const uint32_t label = pick_class(random);
  trace(label, random);
  place(label, random);
  ink_in(random, image);
  return label;
}

uint32_t GlyphWriter::pick_class(Random& random) const {
  const auto drawn = static_cast<float>(random.uniform());
  const auto found = std::upper_bound(favour_.begin(), favour_.end() - 1, drawn);
  return static_cast<uint32_t>(found - favour_.begin());
}

// The path of the pen for this sample, still in stroke units.
void GlyphWriter::trace(uint32_t label, Random& random) {
  points_ = shapes_[label];
  stray(points_, style_.tremor, random);
  const float slant = about(random, style_.slant, kSlantJitter);
  const float width = ratio_about(random, style_.width, kWidthJitter);
  const float tilt = about(random, style_.tilt, kTiltJitter);
  const float cosine = std::cos(tilt);
  const float sine = std::sin(tilt);
  for (StrokePoint& point : points_) {
    const float x = point.x * width + slant * (100 - point.y);
    const float y = point.y;
    point.x = cosine * x - sine * y;
    point.y = sine * x + cosine * y;
  }
  flatten(points_, style_.curve, pieces_);
}

// From stroke units to pixels. Whatever the jitter, the character stays on the sheet.
void GlyphWriter::place(uint32_t label, Random& random) {
  const Box box = bounds(pieces_);
  const float width = box.right - box.left;
  const float height = box.bottom - box.top;
  const float extent = std::max(width, height);
  const float size = style_.size * (label >= kFirstSmall ? style_.small_size : 1.0f);
  const float wanted =
      ratio_about(random, kFullSize * size, kSizeJitter) * std::pow(extent / 100, kSizeSurvives);
  const float largest = kLargest - 2 * style_.pen;
  const float scale = std::min(wanted, largest) / extent;
  const float room_x = (largest - scale * width) / 2;
  const float room_y = (largest - scale * height) / 2;

  constexpr float kMiddle = static_cast<float>(kGlyphSide) / 2;
  const float centre_x = (box.left + box.right) / 2;
  const float centre_y = (box.top + box.bottom) / 2;
  const float lowered = kHeightSurvives * scale * (centre_y - kUsualCentre);
  const float to_x = kMiddle + std::clamp(about(random, 0.0f, kPlaceJitter), -room_x, room_x);
  const float to_y = kMiddle + std::clamp(about(random, lowered, kPlaceJitter), -room_y, room_y);
  for (StrokePoint& point : pieces_) {
    point.x = to_x + scale * (point.x - centre_x) + style_.shake * wobble(random);
    point.y = to_y + scale * (point.y - centre_y) + style_.shake * wobble(random);
  }
}

void GlyphWriter::ink_in(Random& random, std::span<float> image) const {
  const float pen = ratio_about(random, style_.pen, kPenJitter);
  const float nib_x = std::cos(style_.nib_angle);
  const float nib_y = std::sin(style_.nib_angle);
  GlyphCanvas canvas(style_.softness);
  float written = 0;  // pixels since the pen came down
  for (size_t i = 0; i + 1 < pieces_.size(); ++i) {
    const StrokePoint& from = pieces_[i];
    const StrokePoint& to = pieces_[i + 1];
    if (from.lift) {
      written = 0;
      continue;
    }
    const float dx = to.x - from.x;
    const float dy = to.y - from.y;
    const float length = std::sqrt(dx * dx + dy * dy) + 1e-6f;
    written += length;
    const float across = std::abs(dx * nib_y - dy * nib_x) / length;
    const float pressed = 1 - style_.pressure_drop * std::min(written / 40, 1.0f);
    const bool fails = static_cast<float>(random.uniform()) < style_.skipping;
    if (fails) continue;
    canvas.draw({.x0 = from.x,
                 .y0 = from.y,
                 .x1 = to.x,
                 .y1 = to.y,
                 .half_width = pen * pressed * (1 + style_.nib * (across - 0.5f))});
  }
  canvas.copy_to(image, style_.ink);
}

}  // namespace subfleet
