#pragma once

#include <cstddef>
#include <string_view>

#include "subfleet/base/png.h"

namespace subfleet {

// A rectangle of pixels; y goes downwards.
struct Box {
  size_t left = 0, top = 0, width = 0, height = 0;
  size_t right() const { return left + width; }
  size_t bottom() const { return top + height; }
};

enum class Align { kLeft, kCentre, kRight };

struct TextStyle {
  Colour colour{0x22, 0x26, 0x2b};
  size_t scale = 2;  // pixels per dot of the font
  Align align = Align::kLeft;
};

// The width of a text in pixels, from its first dot to its last.
size_t text_width(std::string_view text, size_t scale);

// A white sheet to draw on. Drawing outside of it does nothing.
class Canvas {
 public:
  Canvas(size_t width, size_t height) : image_(width, height, {0xff, 0xff, 0xff}) {}

  void fill(const Box& box, Colour colour);
  void outline(const Box& box, Colour colour);  // one pixel wide, just outside the box

  // `y` is the top of the capitals; `x` the beginning, middle or end.
  void text(size_t x, size_t y, std::string_view text, const TextStyle& style = {});
  // Reads upwards; `x` is the left side of the capitals' tops, `y` the middle.
  void text_upwards(size_t x, size_t y, std::string_view text, const TextStyle& style = {});

  const ColourImage& image() const { return image_; }

 private:
  ColourImage image_;
};

}  // namespace subfleet
