#include "threads.h"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <thread>

#include "bindings.h"

namespace subfleet::python {
namespace {

std::atomic<int> inside{0};  // threads in a WithoutGil
thread_local int depth_of_thread = 0;
std::atomic<bool> ending{false};
std::thread::id ends_python;  // written before `ending`

bool is_too_late() { return ending && std::this_thread::get_id() != ends_python; }

[[noreturn]] void stay() {
  --inside;
  for (;;) ::pause();
}

// What Python had, for the main thread's outermost watch.
constexpr std::array kWatched{SIGINT, SIGTERM};
std::array<struct sigaction, kWatched.size()> handlers;
int watches = 0;
static_assert(std::atomic<bool>::is_always_lock_free);  // a signal handler sets it

void on_watched_signal(int number) {
  stop_asked() = true;
  handlers[number == kWatched[0] ? 0 : 1].sa_handler(number);
}

bool is_main_thread() {
  const nb::module_ threading = nb::module_::import_("threading");
  return threading.attr("current_thread")().is(threading.attr("main_thread")());
}

// Before Python ends.
void end_threads() {
  constexpr int kPatience = 1000;  // hundredths of a second
  ends_python = std::this_thread::get_id();
  ending = true;
  stop_asked() = true;
  const nb::gil_scoped_release released;  // callbacks come to their end
  for (int i = 0; i < kPatience && inside > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

}  // namespace

std::atomic<bool>& stop_asked() {
  static std::atomic<bool> asked{false};
  return asked;
}

WithoutGil::WithoutGil() : state_(PyEval_SaveThread()) {
  if (depth_of_thread++ == 0) ++inside;
  if (is_too_late()) stay();
}

WithoutGil::~WithoutGil() {
  if (is_too_late()) stay();
  PyEval_RestoreThread(state_);
  if (--depth_of_thread == 0) --inside;
}

WithGil::WithGil() {
  if (is_too_late() && PyGILState_Check() == 0) stay();
  state_ = PyGILState_Ensure();
}

WithGil::~WithGil() { PyGILState_Release(state_); }

SignalWatch::SignalWatch() : watches_(is_main_thread()) {
  if (!watches_ || watches++ > 0) return;
  for (size_t i = 0; i < kWatched.size(); ++i) {
    ::sigaction(kWatched[i], nullptr, &handlers[i]);
    const bool has_handler = handlers[i].sa_handler != SIG_DFL && handlers[i].sa_handler != SIG_IGN;
    if (!has_handler || (handlers[i].sa_flags & SA_SIGINFO) != 0) continue;
    struct sigaction ours = handlers[i];
    ours.sa_handler = on_watched_signal;
    ::sigaction(kWatched[i], &ours, nullptr);
  }
}

SignalWatch::~SignalWatch() {
  if (!watches_ || --watches > 0) return;
  if (!ending) stop_asked() = false;  // an exception may have come before handler_raised()
  for (size_t i = 0; i < kWatched.size(); ++i) {
    struct sigaction now {};
    ::sigaction(kWatched[i], nullptr, &now);  // a callback may have set another
    if (now.sa_handler == on_watched_signal) ::sigaction(kWatched[i], &handlers[i], nullptr);
  }
}

bool SignalWatch::handler_raised() const {
  if (watches_ && !ending) stop_asked() = false;
  return PyErr_CheckSignals() != 0;
}

void bind_threads(nb::module_& m) {
  stop_asked();  // made before a signal asks for it
  // The threads of the process that forked are not there.
  ::pthread_atfork(nullptr, nullptr, [] { inside = depth_of_thread > 0 ? 1 : 0; });
  m.def("_end_threads", &end_threads);
  nb::module_::import_("atexit").attr("register")(m.attr("_end_threads"));
}

}  // namespace subfleet::python
