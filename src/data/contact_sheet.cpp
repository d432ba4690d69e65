#include "subfleet/data/contact_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "data/glyph_curve.h"
#include "data/glyph_raster.h"
#include "data/glyph_strokes.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

constexpr size_t kMargin = 10;          // pixels around the sheet and under the names
constexpr uint8_t kDot = 200;           // grey of "none"
constexpr size_t kLargestSide = 32000;  // of the picture

// A character as drawn in the alphabet, small, for the heading.
std::array<float, kGlyphPixels> print_character(const GlyphAlphabet& alphabet, uint32_t label) {
  std::array<float, kGlyphPixels> image{};
  if (label >= kGlyphClasses) return image;
  std::vector<StrokePoint> pieces;
  flatten(alphabet[label].front().points, {.tension = 0.5f, .rounding = 0}, pieces);
  float left = pieces[0].x;
  float right = pieces[0].x;
  for (const StrokePoint& point : pieces) {
    left = std::min(left, point.x);
    right = std::max(right, point.x);
  }
  constexpr float kScale = 0.13f;
  const float from_x = static_cast<float>(kGlyphSide) / 2 - kScale * (left + right) / 2;
  GlyphCanvas canvas(1);
  for (size_t i = 0; i + 1 < pieces.size(); ++i) {
    if (pieces[i].lift) continue;
    canvas.draw({.x0 = from_x + kScale * pieces[i].x,
                 .y0 = 6 + kScale * pieces[i].y,
                 .x1 = from_x + kScale * pieces[i + 1].x,
                 .y1 = 6 + kScale * pieces[i + 1].y,
                 .half_width = 0.5f});
  }
  canvas.copy_to(image, 0.6f);
  return image;
}

// One channel is ink on paper; several are the colours of a photograph.
std::vector<float> ink_of(std::span<const float> example, const Shape& shape) {
  if (shape.channels == 1) return {example.begin(), example.end()};
  const size_t plane = shape.height * shape.width;
  std::vector<float> ink(plane, 1.0f);
  for (size_t i = 0; i < example.size(); ++i) {
    ink[i % plane] -= example[i] / static_cast<float>(shape.channels);
  }
  return ink;
}

// Places pictures of examples on the sheet, enlarged.
class Sheet {
 public:
  Sheet(size_t width, size_t height, size_t scale)
      : image_(width * scale, height * scale, 255), scale_(scale) {}

  void put(std::span<const float> picture, size_t side, size_t left, size_t top) {
    for (size_t i = 0; i < picture.size(); ++i) {
      const float ink = std::clamp(picture[i], 0.0f, 1.0f);
      fill(left + i % side, top + i / side, static_cast<uint8_t>(std::lround(255 * (1 - ink))));
    }
  }

  void fill(size_t x, size_t y, uint8_t grey) {
    for (size_t dy = 0; dy < scale_; ++dy) {
      for (size_t dx = 0; dx < scale_; ++dx) image_.at(x * scale_ + dx, y * scale_ + dy) = grey;
    }
  }

  GreyImage take() { return std::move(image_); }

 private:
  GreyImage image_;
  size_t scale_;
};

}  // namespace

GreyImage contact_sheet(const Federation& data, const ContactSheetOptions& options) {
  if (options.first >= data.clients()) {
    throw bad_request("contact sheet", fmt::format("there is no client {}; the last is {}", options.first,
                                                   data.clients() - 1));
  }
  if (options.rows == 0 || options.scale == 0)
    throw bad_request("contact sheet", "rows and scale must be 1 or more");
  const Shape input = data.input();
  if (input.width < 2) {
    throw bad_request("contact sheet", fmt::format("draws images only; the examples are {} x {} x {}",
                                                   input.channels, input.height, input.width));
  }
  const size_t rows = std::min<size_t>(options.rows, data.clients() - options.first);
  const size_t classes = data.classes();
  const size_t heading = kGlyphSide + kMargin;
  const size_t column_width = std::max(input.width, kGlyphSide);
  const size_t width = 2 * kMargin + classes * column_width;
  const size_t height = kMargin + heading + rows * input.height + kMargin;
  if (std::max(width, height) * options.scale > kLargestSide) {
    throw bad_request("contact sheet",
                      fmt::format("{} x {} pixels are too many; at most {} a side", width * options.scale,
                                  height * options.scale, kLargestSide));
  }

  Sheet sheet(width, height, options.scale);
  const GlyphAlphabet alphabet = glyph_alphabet();
  for (uint32_t label = 0; label < classes; ++label) {
    sheet.put(print_character(alphabet, label), kGlyphSide, kMargin + label * column_width, kMargin);
  }
  for (size_t row = 0; row < rows; ++row) {
    const Examples examples = data.load(options.first + static_cast<uint32_t>(row));
    const size_t top = kMargin + heading + row * input.height;
    for (size_t label = 0; label < classes; ++label) {
      const size_t left = kMargin + label * column_width;
      const auto found =
          std::find(examples.labels.begin(), examples.labels.end(), static_cast<int32_t>(label));
      if (found == examples.labels.end()) {
        sheet.fill(left + column_width / 2, top + input.height / 2, kDot);
      } else {
        const auto index = static_cast<size_t>(found - examples.labels.begin());
        sheet.put(ink_of(examples.input(index), input), input.width, left, top);
      }
    }
  }
  return sheet.take();
}

}  // namespace subfleet
