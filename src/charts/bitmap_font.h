#pragma once

#include <cstddef>

namespace subfleet {

inline constexpr size_t kFontWidth = 5;
inline constexpr size_t kFontHeight = 9;  // including two rows below the line
inline constexpr size_t kFontCapital = 7;

// Whether a pixel of a character is ink, counted from its upper left corner. Letters, digits and common signs
// are known; anything else is blank.
bool font_pixel(char character, size_t x, size_t y);

}  // namespace subfleet
