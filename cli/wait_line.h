#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string_view>
#include <utility>

#include "subfleet/report/terminal.h"

namespace subfleet::cli {

// What a long computation is at: a line on a terminal that goes away when it is finished.
class WaitLine {
 public:
  WaitLine(std::string_view what, bool takes_long)
      : shown_(takes_long && look_at_terminal(stderr).interactive) {
    if (!shown_) return;
    fmt::print(stderr, "{} ...", what);
    std::fflush(stderr);
  }
  ~WaitLine() { finish(); }
  WaitLine(const WaitLine&) = delete;
  WaitLine& operator=(const WaitLine&) = delete;

  void finish() {
    if (std::exchange(shown_, false)) std::fputs("\r\x1b[K", stderr);
  }

 private:
  bool shown_;
};

}  // namespace subfleet::cli
