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
  PyGILState_STATE state_;
};

// Set while rounds and tests that are going on are to stop: by a signal, or because Python ends. All runs of
// Python's look at it (Fleet::stop_on()).
std::atomic<bool>& stop_asked();

// While it lives in Python's main thread, SIGINT and SIGTERM set stop_asked(), where Python has a handler for
// them, which is called as well. Made with the GIL.
class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  // Lets Python handle the signals that came, with the GIL. Whether a handler raised something.
  bool handler_raised() const;

 private:
  bool watches_;
};

// Does the work without the GIL. If a signal stops it whose handler raises nothing, it is done anew.
template <typename Work>
auto interruptible(const Work& work) {
  const SignalWatch watch;
  for (;;) {
    try {
      const WithoutGil released;
      return work();
    } catch (const Interrupted&) {
      if (watch.handler_raised()) throw nb::python_error();
    }
  }
}

}  // namespace subfleet::python
