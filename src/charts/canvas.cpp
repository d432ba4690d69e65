#include "charts/canvas.h"

#include <algorithm>

#include "charts/bitmap_font.h"

namespace subfleet {
namespace {

// Calls dot(x, y) for every dot of ink, in dots from the upper left corner of the text.
template <typename Dot>
void for_each_dot(std::string_view text, const Dot& dot) {
  for (size_t i = 0; i < text.size(); ++i) {
    for (size_t y = 0; y < kFontHeight; ++y) {
      for (size_t x = 0; x < kFontWidth; ++x) {
        if (font_pixel(text[i], x, y)) dot(i * (kFontWidth + 1) + x, y);
      }
    }
  }
}

size_t back(size_t from, size_t by) { return from - std::min(from, by); }

}  // namespace

size_t text_width(std::string_view text, size_t scale) {
  return text.empty() ? 0 : (text.size() * (kFontWidth + 1) - 1) * scale;
}

void Canvas::fill(const Box& box, Colour colour) {
  for (size_t y = box.top; y < std::min(box.bottom(), image_.height); ++y) {
    for (size_t x = box.left; x < std::min(box.right(), image_.width); ++x) image_.at(x, y) = colour;
  }
}

void Canvas::outline(const Box& box, Colour colour) {
  fill({box.left - 1, box.top - 1, box.width + 2, 1}, colour);
  fill({box.left - 1, box.bottom(), box.width + 2, 1}, colour);
  fill({box.left - 1, box.top, 1, box.height}, colour);
  fill({box.right(), box.top, 1, box.height}, colour);
}

void Canvas::text(size_t x, size_t y, std::string_view text, const TextStyle& style) {
  const size_t width = text_width(text, style.scale);
  if (style.align == Align::kCentre) x = back(x, width / 2);
  if (style.align == Align::kRight) x = back(x, width);
  for_each_dot(text, [&](size_t dot_x, size_t dot_y) {
    fill({x + dot_x * style.scale, y + dot_y * style.scale, style.scale, style.scale}, style.colour);
  });
}

void Canvas::text_upwards(size_t x, size_t y, std::string_view text, const TextStyle& style) {
  const size_t width = text_width(text, style.scale);
  const size_t bottom = y + width / 2;
  for_each_dot(text, [&](size_t dot_x, size_t dot_y) {
    fill({x + dot_y * style.scale, back(bottom, (dot_x + 1) * style.scale), style.scale, style.scale},
         style.colour);
  });
}

}  // namespace subfleet
