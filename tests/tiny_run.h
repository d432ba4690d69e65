#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "subfleet/local_fleet.h"
#include "subfleet/run.h"
#include "subfleet/thread_pool.h"
#include "tiny_federation.h"

namespace subfleet {

inline constexpr uint32_t kClients = 6;

// A fleet over TinyFederation; every example is for training.
inline LocalFleet tiny_fleet(ThreadPool& pool, std::string_view device = "reference") {
  return {SplitFederation(std::make_unique<TinyFederation>(kClients), 0, 0.0), device, pool, 0};
}

// The same examples, as a node has them.
class TinyExamples final : public ExampleSource {
 public:
  void read_train(uint32_t client, Examples& into) const override { data_.read_train(client, into); }
  const Examples& test_set() const override { return none_; }

 private:
  SplitFederation data_{std::make_unique<TinyFederation>(kClients), 0, 0.0};
  Examples none_;
};

inline Config tiny_config() {
  Config config;
  config.model.name = "emnist-mlp";
  config.round.clients = 4;
  config.run.seed = 3;
  return config;
}

// The weights after so many rounds from the start.
inline std::vector<float> weights_after(const Config& config, uint32_t rounds, size_t threads,
                                        std::string_view device) {
  ThreadPool pool(threads);
  LocalFleet fleet = tiny_fleet(pool, device);
  Run run(config, fleet);
  for (uint32_t i = 0; i < rounds; ++i) run.step();
  return {run.weights().begin(), run.weights().end()};
}

}  // namespace subfleet
