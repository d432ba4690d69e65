#include "interrupt.h"

#include <csignal>

namespace subfleet::cli {
namespace {

volatile std::sig_atomic_t asked_to_stop = 0;  // a signal handler can reach nothing else

void on_signal(int number) {
  asked_to_stop = 1;
  std::signal(number, SIG_DFL);
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

bool InterruptWatch::interrupted() const { return asked_to_stop != 0; }

}  // namespace subfleet::cli
