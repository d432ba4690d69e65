#include "nn/host_state.h"

#include <algorithm>
#include <string>

#include "nn/state_checks.h"

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
  check_weights(model_, weights_.size(), weights);
  std::ranges::copy(weights, weights_.begin());
  if (const std::span<float> mean = average(); !mean.empty()) std::ranges::copy(weights, mean.begin());
}

std::span<float> HostState::average() {
  const auto mine = optimizer_->moments();
  return !mine.empty() && mine.front().name == kAverage ? mine.front().values : std::span<float>();
}

std::span<const float> HostState::tested_weights() {
  const std::span<const float> mean = average();
  return mean.empty() ? weights() : mean;
}

void HostState::set_moments(std::span<const std::vector<float>> moments) {
  const auto mine = optimizer_->moments();
  std::vector<std::string> names;
  for (const auto& moment : mine) names.push_back(moment.name);
  check_moments(model_, weights_.size(), names, moments);
  for (size_t i = 0; i < mine.size(); ++i) std::ranges::copy(moments[i], mine[i].values.begin());
}

bool HostState::step(const ServerRound& round) { return optimizer_->step(weights_, sum_, round, pool_); }

}  // namespace subfleet
