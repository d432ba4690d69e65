#pragma once

namespace subfleet::cli {

// Watches for Ctrl-C (and SIGTERM) while it lives: the first asks for a clean end, a second ends the program
// at once.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
  bool interrupted() const { return signal() != 0; }
  int signal() const;  // that came; 0: none
};

// Thrown when a signal has ended work cleanly before its end; the program exits with 128 and its number.
struct Stopped {
  int signal = 0;
};

}  // namespace subfleet::cli
