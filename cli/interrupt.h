#pragma once

namespace subfleet::cli {

// Watches for Ctrl-C (and SIGTERM) while it lives: the first asks for a clean end, a second ends the program
// at once.
class InterruptWatch {
 public:
  // The message says, after Ctrl-C, what is still done; it outlives this object.
  explicit InterruptWatch(const char* message = "finishing this round; press Ctrl-C again to stop now");
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
  bool interrupted() const { return signal() != 0; }
  int signal() const;  // the signal that came; 0 if none did
};

// Thrown when a signal has ended work cleanly before its end; the program exits with 128 and its number.
struct Stopped {
  int signal = 0;
};

}  // namespace subfleet::cli
