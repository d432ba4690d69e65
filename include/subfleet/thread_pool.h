#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace subfleet {

// A fixed number of threads that share out the indices of a loop. The calling thread is worker 0.
class ThreadPool {
 public:
  // 0 threads: one per core of this machine.
  explicit ThreadPool(size_t threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  size_t threads() const;

  // Calls body(index, worker) once for every index below count, worker < threads(); returns when all are
  // done. If bodies throw, the exception of the lowest index is rethrown. Not to be nested.
  void parallel_for(size_t count, const std::function<void(size_t index, size_t worker)>& body);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace subfleet
