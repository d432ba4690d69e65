#include "interrupt.h"

#include <unistd.h>

#include <csignal>
#include <string_view>

namespace subfleet::cli {
namespace {

volatile std::sig_atomic_t asked_to_stop = 0;  // a signal handler can reach nothing else

void on_signal(int number) {
  asked_to_stop = number;
  std::signal(number, SIG_DFL);
  if (number != SIGINT) return;  // mpirun, too, sends SIGTERM; nobody is there to press keys
  constexpr std::string_view kMessage = "\nfinishing this round; press Ctrl-C again to stop now\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kMessage.data(), kMessage.size());
}

}  // namespace

InterruptWatch::InterruptWatch() {
  asked_to_stop = 0;
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

InterruptWatch::~InterruptWatch() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

int InterruptWatch::signal() const { return asked_to_stop; }

}  // namespace subfleet::cli
