#include "subfleet/thread_pool.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "subfleet/error.h"

namespace subfleet {

struct ThreadPool::State {
  std::mutex mutex;
  std::condition_variable work_ready, work_done;
  const std::function<void(size_t, size_t)>* body = nullptr;
  size_t next = 0, count = 0, busy = 0;
  uint64_t loop = 0;  // which parallel_for
  bool stopping = false;
  size_t failed_index = 0;
  std::exception_ptr failure;
  std::vector<std::thread> threads;
  pid_t process = ::getpid();

  // Takes indices until there are no more. Called with the lock held; returns with it held.
  void drain(std::unique_lock<std::mutex>& lock, size_t worker) {
    while (next < count) {
      const size_t index = next++;
      lock.unlock();
      std::exception_ptr thrown;
      try {
        (*body)(index, worker);
      } catch (...) {
        thrown = std::current_exception();
      }
      lock.lock();
      if (thrown && (!failure || index < failed_index)) {
        failure = thrown;
        failed_index = index;
      }
    }
  }

  void stop() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    work_ready.notify_all();
    for (std::thread& thread : threads) thread.join();
  }

  void serve(size_t worker) {
    std::unique_lock lock(mutex);
    for (uint64_t seen = 0;;) {
      work_ready.wait(lock, [&] { return stopping || loop != seen; });
      if (stopping) return;
      seen = loop;
      ++busy;
      drain(lock, worker);
      if (--busy == 0) work_done.notify_all();
    }
  }
};

ThreadPool::ThreadPool(size_t threads) : state_(std::make_unique<State>()) {
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  try {
    state_->threads.reserve(threads);
    for (size_t worker = 1; worker < threads; ++worker) {
      state_->threads.emplace_back([state = state_.get(), worker] { state->serve(worker); });
    }
  } catch (const std::system_error&) {
    const size_t started = state_->threads.size() + 1;
    state_->stop();
    throw failure("threads", fmt::format("{} were asked for, but only {} can be started", threads, started));
  } catch (...) {  // out of memory
    state_->stop();
    throw;
  }
}

ThreadPool::~ThreadPool() {
  // A child of fork() has none of the threads: it could neither join them nor free what they wait for.
  if (state_->process != ::getpid()) {
    static_cast<void>(state_.release());
    return;
  }
  state_->stop();
}

size_t ThreadPool::threads() const { return state_->threads.size() + 1; }

void ThreadPool::parallel_for(size_t count, const std::function<void(size_t, size_t)>& body) {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  s.body = &body;
  s.next = 0;
  s.count = count;
  s.failure = nullptr;
  ++s.loop;
  s.work_ready.notify_all();
  s.drain(lock, 0);
  s.work_done.wait(lock, [&] { return s.busy == 0; });
  if (s.failure) std::rethrow_exception(s.failure);
}

}  // namespace subfleet
