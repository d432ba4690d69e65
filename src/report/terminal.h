#pragma once

#include <cstddef>
#include <cstdio>

namespace subfleet {

// What the place that a stream writes to can show.
struct Terminal {
  bool interactive = false;  // a terminal that can redraw a line
  bool unicode = false;      // the locale is UTF-8
  bool colour = false;       // interactive, and NO_COLOR is not set
  size_t width = 80;         // columns; at least 20
};
Terminal look_at_terminal(std::FILE* out);

// The columns of the terminal now (it may have been resized), at least 20; 80 if there is no telling.
size_t terminal_width(std::FILE* out);

}  // namespace subfleet
