#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

namespace subfleet {

// What the place that a stream writes to can show.
struct Terminal {
  bool interactive = false;  // a terminal that can redraw a line
  bool unicode = false;      // the locale is UTF-8
  bool colour = false;       // interactive, and NO_COLOR is not set
  size_t width = 80;         // columns; at least 20
};
Terminal look_at_terminal(std::FILE* out);

// The text with the signs of our own tables in ASCII, as wide as before, unless the locale is UTF-8:
// "84.1 +-0.3 %", "y" for a tick and "n" for a cross.
std::string in_locale(std::string text);

// The columns of the terminal now (it may have been resized), at least 20; 80 if there is no telling.
size_t terminal_width(std::FILE* out);

}  // namespace subfleet
