#include "interrupt.h"

#include <unistd.h>

#include <csignal>
#include <cstring>

namespace subfleet::cli {
namespace {

// A signal handler can reach nothing else.
volatile std::sig_atomic_t asked_to_stop = 0;
const char* volatile what_is_done = "";

void on_signal(int number) {
  asked_to_stop = number;
  std::signal(number, SIG_DFL);
  if (number != SIGINT) return;  // mpirun, too, sends SIGTERM; there is no user to press keys
  const auto say = [](const char* text) {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, std::strlen(text));
  };
  say("\n");
  say(what_is_done);
  say("\n");
}

}  // namespace

InterruptWatch::InterruptWatch(const char* message) {
  asked_to_stop = 0;
  what_is_done = message;
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

InterruptWatch::~InterruptWatch() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

int InterruptWatch::signal() const { return asked_to_stop; }

}  // namespace subfleet::cli
