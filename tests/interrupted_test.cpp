// Rounds and tests that are told to stop leave nothing behind.

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "subfleet/training.h"
#include "tiny_run.h"

namespace subfleet {
namespace {

// A federation that calls somebody whenever a client's examples are read.
class WatchedFederation final : public Federation {
 public:
  explicit WatchedFederation(std::function<void(uint32_t)> watch) : watch_(std::move(watch)) {}
  uint32_t clients() const override { return data_.clients(); }
  Shape input() const override { return data_.input(); }
  uint32_t classes() const override { return data_.classes(); }
  uint32_t samples(uint32_t client) const override { return data_.samples(client); }
  uint64_t fingerprint() const override { return data_.fingerprint(); }
  std::string class_name(uint32_t label) const override { return data_.class_name(label); }
  void read(uint32_t client, Examples& into) const override {
    data_.read(client, into);
    watch_(client);
  }

 private:
  TinyFederation data_{kClients};
  std::function<void(uint32_t)> watch_;
};

struct State {
  uint32_t round;
  std::vector<float> weights;
  std::vector<std::vector<float>> moments;
  bool operator==(const State&) const = default;
};

State state_of(Run& run) {
  State now{run.round(), {run.weights().begin(), run.weights().end()}, {}};
  for (const Moment& moment : run.moments())
    now.moments.emplace_back(moment.values.begin(), moment.values.end());
  return now;
}

// Three rounds with a test each, where the n-th reading of examples asks to stop. Each round that is stopped
// counts as not begun, and the end has the bits of a run that nobody stopped.
void expect_the_same_bits(size_t stop_at, size_t threads, std::string_view device) {
  Config config = tiny_config();
  config.round.epochs = 2;
  config.run.rounds = 3;
  config.run.eval_every = 1;
  config.server.average = 0.5;
  std::atomic<bool> flag{false};
  size_t readings = 0;
  std::mutex mutex;
  const auto watch = [&](uint32_t) {
    const std::lock_guard lock(mutex);
    if (++readings == stop_at) flag = true;
  };
  ThreadPool pool(threads);
  LocalFleet fleet({SplitFederation(std::make_unique<WatchedFederation>(watch), 0, 0.25)}, device, pool, 0);
  Run run(config, fleet);
  run.stop_on(flag);
  ASSERT_TRUE(run.can_be_stopped());
  size_t stopped = 0;
  while (run.round() < config.run.rounds) {
    const State before = state_of(run);
    try {
      train_round(run, {});
    } catch (const Interrupted&) {
      ++stopped;
      EXPECT_EQ(state_of(run), before);
      flag = false;
    }
  }
  EXPECT_EQ(stopped, 1u) << stop_at;
  const auto nobody = [](uint32_t) {};
  LocalFleet other({SplitFederation(std::make_unique<WatchedFederation>(nobody), 0, 0.25)}, device, pool, 0);
  Run whole(config, other);
  for (int round = 0; round < 3; ++round) train_round(whole, {});
  EXPECT_EQ(state_of(run), state_of(whole)) << stop_at;
}

TEST(Interrupted, ARoundThatIsStoppedCountsAsNotBegun) {
  for (const size_t stop_at : {1, 3, 7, 12}) {  // the first round, the same, its test, the second round
    for (const size_t threads : {1, 2}) expect_the_same_bits(stop_at, threads, "cpu");
  }
  expect_the_same_bits(2, 1, "reference");
}

}  // namespace
}  // namespace subfleet
