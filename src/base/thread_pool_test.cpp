#include "subfleet/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace subfleet {
namespace {

TEST(ThreadPool, VisitsEveryIndexOnceForAnyNumberOfThreads) {
  for (const size_t threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const size_t count : {0, 1, 3, 1000}) {
      std::vector<std::atomic<int>> visits(count);
      std::atomic<bool> worker_in_range = true;
      pool.parallel_for(count, [&](size_t index, size_t worker) {
        ++visits[index];
        if (worker >= threads) worker_in_range = false;
      });
      for (const auto& visit : visits) EXPECT_EQ(visit, 1);
      EXPECT_TRUE(worker_in_range);
    }
  }
}

TEST(ThreadPool, RethrowsTheExceptionOfTheLowestIndexAndStaysUsable) {
  ThreadPool pool(3);
  for (int repeat = 0; repeat < 20; ++repeat) {
    try {
      pool.parallel_for(50, [](size_t index, size_t) {
        if (index % 10 == 7) throw std::runtime_error(std::to_string(index));
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "7");
    }
  }
  std::atomic<int> visits = 0;
  pool.parallel_for(10, [&](size_t, size_t) { ++visits; });
  EXPECT_EQ(visits, 10);
}

}  // namespace
}  // namespace subfleet
