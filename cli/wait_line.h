#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string_view>
#include <utility>

#include "subfleet/report/terminal.h"

namespace subfleet::cli {

// What a long computation is at: a line that goes away on a terminal when it is finished, and stays
// elsewhere.
class WaitLine {
 public:
  WaitLine(std::string_view what, bool takes_long)
      : shown_(takes_long && look_at_terminal(stderr).interactive) {
    if (!takes_long) return;
    fmt::print(stderr, "{} ...{}", what, shown_ ? "" : "\n");
    std::fflush(stderr);
  }
  ~WaitLine() { finish(); }
  WaitLine(const WaitLine&) = delete;
  WaitLine& operator=(const WaitLine&) = delete;

  void finish() {
    if (std::exchange(shown_, false)) std::fputs("\r\x1b[K", stderr);
  }

 private:
  bool shown_;  // and to be taken away
};

}  // namespace subfleet::cli
