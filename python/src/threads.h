#pragma once

#include <nanobind/nanobind.h>

#include <atomic>

#include "subfleet/trainer.h"

// Threads of Python's that are in C++: how they come back, and when they stop.
namespace subfleet::python {

namespace nb = nanobind;

// In place of nanobind's gil_scoped_release: other threads of Python's go on while it lives. A daemon thread
// that would come back when Python has ended stays here; before 3.14 Python would end it in the middle of
// C++, and with it the process.
class WithoutGil {
 public:
  WithoutGil();
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

// In place of nanobind's gil_scoped_acquire, for calls of Python within it.
class WithGil {
 public:
  WithGil();
  ~WithGil();
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;

 private:
  bool counts_;  // the thread came out of a WithoutGil
  PyGILState_STATE state_;
};

// While it lives in Python's main thread, Ctrl-C sets its flag, if it is Python's own handler that SIGINT
// has; the handler is called as well. Another handler is heard between rounds. Made with the GIL.
class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  // Set while what this thread does is to stop (Fleet::stop_on()): by Ctrl-C, or in other threads than the
  // main one when Python ends.
  const std::atomic<bool>& flag() const;

  // Lets Python handle the signals that came, with the GIL. Whether a handler raised something.
  bool handler_raised() const;

 private:
  bool in_main_thread_;
};

// Does work(flag) without the GIL. If it is interrupted and no handler raises something, it is done anew.
template <typename Work>
auto interruptible(const SignalWatch& watch, const Work& work) {
  for (;;) {
    try {
      const WithoutGil released;
      return work(watch.flag());
    } catch (const Interrupted&) {
      if (watch.handler_raised()) throw nb::python_error();
    }
  }
}
template <typename Work>
auto interruptible(const Work& work) {
  const SignalWatch watch;
  return interruptible(watch, work);
}

}  // namespace subfleet::python
