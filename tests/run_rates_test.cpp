// What schedules and a mean of the weights change in a run, and what not.

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "subfleet/run.h"
#include "tiny_run.h"

namespace subfleet {
namespace {

// A client's rate in round r is what its schedule says, on every device: the same bits as with that rate
// alone.
TEST(RunRates, EveryRoundHasTheRatesOfItsSchedules) {
  Config config = tiny_config();
  config.run.rounds = 4;
  config.schedules.server = {.schedule = "linear", .final = 0.25};
  config.schedules.clients = {.schedule = "step", .final = 0.25};
  ThreadPool pool(2);
  LocalFleet fleet = tiny_fleet(pool);
  subfleet::Run run(config, fleet);
  std::vector<float> expected(run.weights().begin(), run.weights().end());
  const std::array server{1.0, 0.75, 0.5, 0.25}, clients{1.0, 1.0, 0.5, 0.25};
  std::vector<std::vector<float>> moments;
  for (const Moment& moment : run.moments()) moments.emplace_back(moment.values.begin(), moment.values.end());
  for (uint32_t round = 0; round < 4; ++round) {
    Config constant = tiny_config();
    constant.server.lr = 0.01 * server[round];
    constant.round.client_lr = static_cast<float>(config.round.client_lr * clients[round]);
    subfleet::Run alone(constant, fleet);
    alone.restore(round, expected, moments);
    alone.step();
    const RoundRecord record = run.step();
    EXPECT_DOUBLE_EQ(record.server_rate.value(), constant.server.lr);
    EXPECT_EQ(static_cast<float>(record.client_rate.value()), constant.round.client_lr);
    expected.assign(alone.weights().begin(), alone.weights().end());
    moments.clear();
    for (const Moment& moment : alone.moments())
      moments.emplace_back(moment.values.begin(), moment.values.end());
    EXPECT_EQ(std::vector<float>(run.weights().begin(), run.weights().end()), expected) << round;
  }
}

TEST(RunRates, TheMeanOfTheWeightsIsTestedAndTrainedByNobody) {
  Config config = tiny_config();
  config.server.average = 0.5;
  ThreadPool pool(2);
  for (const std::string& device : trainer_names()) {
    LocalFleet fleet(SplitFederation(std::make_unique<TinyFederation>(kClients), 0, 0.3), device, pool, 0);
    subfleet::Run run(config, fleet);
    EXPECT_EQ(run.evaluate().loss, [&] {
      subfleet::Run other(tiny_config(), fleet);
      return other.evaluate().loss;
    }()) << "before the first round the mean is the weights";
    std::vector<double> mean(run.weights().size(), 0.0);
    for (int round = 0; round < 3; ++round) {
      run.step();
      for (size_t i = 0; i < mean.size(); ++i) mean[i] = mean[i] / 2 + static_cast<double>(run.weights()[i]);
    }
    for (size_t i = 0; i < mean.size(); ++i) ASSERT_NEAR(run.tested_weights()[i], mean[i] / 1.75, 1e-5);
    subfleet::Run tested(tiny_config(), fleet);
    tested.set_weights(run.tested_weights());
    EXPECT_EQ(run.evaluate().loss, tested.evaluate().loss) << device;
    subfleet::Run plain(tiny_config(), fleet);
    for (int round = 0; round < 3; ++round) plain.step();
    EXPECT_EQ(std::vector<float>(run.weights().begin(), run.weights().end()),
              std::vector<float>(plain.weights().begin(), plain.weights().end()))
        << device;
  }
}

}  // namespace
}  // namespace subfleet
