#pragma once

#include <memory>
#include <span>
#include <vector>

#include "subfleet/batch_fleet.h"

namespace subfleet {

// Another fleet, for tests that change a part of what it does.
class ForwardingFleet : public BatchFleet {
 public:
  explicit ForwardingFleet(Fleet& fleet) : fleet_(fleet) {}
  uint32_t clients() const override { return fleet_.clients(); }
  uint32_t classes() const override { return fleet_.classes(); }
  Shape input() const override { return fleet_.input(); }
  uint64_t data_fingerprint() const override { return fleet_.data_fingerprint(); }
  std::unique_ptr<ServerState> make_state(const ModelSpec& model, const OptimizerOptions& options) override {
    return fleet_.make_state(model, options);
  }
  std::vector<std::vector<JobResult>> train_batch(std::span<const Cohort> cohorts) override {
    return fleet_.train(cohorts);
  }
  Evaluation evaluate(ServerState& state) override { return fleet_.evaluate(state); }

 private:
  Fleet& fleet_;
};

}  // namespace subfleet
