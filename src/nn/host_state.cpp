#include "nn/host_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "subfleet/error.h"

namespace subfleet {

HostState::HostState(const ModelSpec& model, const OptimizerOptions& options, ThreadPool& pool)
    : model_(model),
      pool_(pool),
      weights_(parameter_count(model), 0.0f),
      optimizer_(make_server_optimizer(options, weights_.size())),
      sum_(weights_.size()) {}

std::vector<Moment> HostState::moments() {
  std::vector<Moment> moments;
  for (const auto& moment : optimizer_->moments()) moments.push_back({moment.name, moment.values});
  return moments;
}

void HostState::set_weights(std::span<const float> weights) {
  if (weights.size() != weights_.size()) {
    throw bad_request("weights",
                      fmt::format("{} of them, but {} has {}", weights.size(), model_.name, weights_.size()));
  }
  std::ranges::copy(weights, weights_.begin());
}

void HostState::set_moments(std::span<const std::vector<float>> moments) {
  const auto mine = optimizer_->moments();
  if (moments.size() != mine.size()) {
    throw bad_request("moments",
                      fmt::format("{} of them; the optimizer has {}", moments.size(), mine.size()));
  }
  for (size_t i = 0; i < mine.size(); ++i) {
    if (moments[i].size() != mine[i].values.size()) {
      throw bad_request("moments", fmt::format("'{}' has {} values; {} has {}", mine[i].name,
                                               moments[i].size(), model_.name, mine[i].values.size()));
    }
    std::ranges::copy(moments[i], mine[i].values.begin());
  }
}

bool HostState::step(std::span<const JobResult> results) {
  return optimizer_->step(weights_, sum_, results, pool_);
}

}  // namespace subfleet
