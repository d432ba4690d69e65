#include "threads.h"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "bindings.h"

namespace subfleet::python {
namespace {

std::atomic<int> threads_without_gil{0};  // that are in C++, and will want it back
std::atomic<bool> ending{false};
std::thread::id ends_python;  // written before `ending`

// A signal handler sets it, and the main thread resets it.
std::atomic<bool> ctrl_c{false};
static_assert(std::atomic<bool>::is_always_lock_free);

bool is_too_late() { return ending && std::this_thread::get_id() != ends_python; }

bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030d0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

[[noreturn]] void stay() {
  --threads_without_gil;
  for (;;) ::pause();
}

// Of the main thread's outermost watch.
struct sigaction pythons_handler;
int watches = 0;

void on_ctrl_c(int number) {
  pythons_handler.sa_handler(number);
  ctrl_c = true;
}

bool is_main_thread() {
  const nb::module_ threading = nb::module_::import_("threading");
  return threading.attr("current_thread")().is(threading.attr("main_thread")());
}

bool has_pythons_handler() {
  const nb::module_ signal = nb::module_::import_("signal");
  return signal.attr("getsignal")(SIGINT).is(signal.attr("default_int_handler"));
}

// Before Python ends.
void end_threads() {
  constexpr int kPatience = 1000;  // hundredths of a second
  ends_python = std::this_thread::get_id();
  ending = true;
  // With the GIL the count is exact: no thread is on its way out of a callback.
  for (int i = 0; i < kPatience && threads_without_gil > 0; ++i) {
    const nb::gil_scoped_release released;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace

WithoutGil::WithoutGil() : state_(PyEval_SaveThread()) {
  ++threads_without_gil;
  if (is_too_late()) stay();
}

WithoutGil::~WithoutGil() {
  if (is_too_late()) stay();
  PyEval_RestoreThread(state_);
  --threads_without_gil;
}

WithGil::WithGil() : counts_(PyGILState_Check() == 0) {
  if (counts_ && is_too_late()) stay();
  state_ = PyGILState_Ensure();
  if (counts_) --threads_without_gil;
}

WithGil::~WithGil() {
  if (counts_) ++threads_without_gil;
  if (is_too_late() && is_finalizing()) stay();
  PyGILState_Release(state_);
}

SignalWatch::SignalWatch() : in_main_thread_(is_main_thread()) {
  if (!in_main_thread_ || watches++ > 0 || !has_pythons_handler()) return;
  ::sigaction(SIGINT, nullptr, &pythons_handler);
  struct sigaction ours = pythons_handler;
  ours.sa_handler = on_ctrl_c;
  ::sigaction(SIGINT, &ours, nullptr);
}

SignalWatch::~SignalWatch() {
  if (!in_main_thread_ || --watches > 0) return;
  struct sigaction now {};
  ::sigaction(SIGINT, nullptr, &now);  // a callback may have set another
  if (now.sa_handler == on_ctrl_c) ::sigaction(SIGINT, &pythons_handler, nullptr);
  ctrl_c = false;
}

const std::atomic<bool>& SignalWatch::flag() const {
  const bool ends_it = ending && !is_too_late();  // what this thread has yet to do, for atexit, is done
  return in_main_thread_ || ends_it ? ctrl_c : ending;
}

bool SignalWatch::handler_raised() const {
  if (in_main_thread_) ctrl_c = false;
  return PyErr_CheckSignals() != 0;
}

void bind_threads(nb::module_& m) {
  ::pthread_atfork(nullptr, nullptr, [] { threads_without_gil = 0; });  // the other threads are not there
  m.def("_end_threads", &end_threads);
  nb::module_::import_("atexit").attr("register")(m.attr("_end_threads"));
}

}  // namespace subfleet::python
