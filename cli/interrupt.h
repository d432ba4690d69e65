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
  bool interrupted() const;
};

}  // namespace subfleet::cli
