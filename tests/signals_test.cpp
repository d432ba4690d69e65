// Signals that come while networks compute disturb nothing.

#include <gtest/gtest.h>
#include <sys/time.h>

#include <csignal>

#include "tiny_run.h"

namespace subfleet {
namespace {

volatile std::sig_atomic_t signals_seen = 0;

// A handler that uses a page of its stack, as an interpreter's may.
void on_alarm(int) {
  volatile char page[4096];
  for (volatile char& byte : page) byte = 1;
  signals_seen = signals_seen + 1;
}

void set_timer(suseconds_t microseconds) {
  const timeval time{.tv_sec = 0, .tv_usec = microseconds};
  const itimerval timer{.it_interval = time, .it_value = time};
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

TEST(Signals, DisturbNeitherTrainingNorTests) {
  ThreadPool pool(1);
  Config config = tiny_config();
  config.model.name = "emnist-cnn";
  config.data.writers = 60;
  LocalFleet fleet(open_split_federation(config.data), "cpu", pool, 0);
  const auto trained = [&] {
    subfleet::Run run(config, fleet);
    run.step();
    const Evaluation evaluation = run.evaluate();
    EXPECT_GT(evaluation.examples, 1000u);
    return std::pair(std::vector<float>(run.weights().begin(), run.weights().end()), evaluation.loss);
  };
  const auto undisturbed = trained();
  std::signal(SIGALRM, on_alarm);
  set_timer(500);
  const auto disturbed = trained();
  set_timer(0);
  std::signal(SIGALRM, SIG_DFL);
  EXPECT_GT(signals_seen, 10);
  EXPECT_EQ(disturbed, undisturbed);
}

}  // namespace
}  // namespace subfleet
