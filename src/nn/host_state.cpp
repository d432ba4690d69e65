#include "nn/host_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "nn/state_checks.h"
#include "subfleet/error.h"

namespace subfleet {

namespace {

template <typename Visit>
void for_each_weight(const auto& statistics, Visit&& visit) {
  size_t place = 0;
  for (const auto& [begin, count] : statistics) {
    for (size_t i = begin; i < begin + count; ++i) visit(i, place++);
  }
}

}  // namespace

HostState::HostState(const ModelSpec& model, const OptimizerOptions& options, ThreadPool& pool)
    : model_(model),
      pool_(pool),
      weights_(parameter_count(model), 0.0f),
      optimizer_(make_server_optimizer(options, weights_.size())),
      sum_(weights_.size()) {
  for (const ParameterSpec& parameter : model_parameters(model)) {
    if (parameter.statistic) statistics_.push_back({parameter.offset, parameter.size()});
  }
  if (!statistics_.empty() && wants_squared_norms(options.optimizer)) {
    throw bad_request("server.optimizer", fmt::format("{} measures how long updates are, which {}'s running "
                                                      "statistics would change; choose another",
                                                      options.optimizer, model.name));
  }
}

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

bool HostState::step(const ServerRound& round) {
  std::vector<float> before;
  for_each_weight(statistics_, [&](size_t i, size_t) { before.push_back(weights_[i]); });
  const bool finite = optimizer_->step(weights_, sum_, round, pool_);
  return average_statistics(before) && finite;
}

// What the optimizer has made of them is undone.
bool HostState::average_statistics(std::span<const float> before) {
  bool finite = true;
  const auto moments = optimizer_->moments();
  for_each_weight(statistics_, [&](size_t i, size_t place) {
    weights_[i] = before[place] + static_cast<float>(sum_.mean(i));
    finite = finite && std::isfinite(weights_[i]);
    for (const auto& moment : moments) moment.values[i] = moment.name == kAverage ? weights_[i] : 0.0f;
  });
  return finite;
}

}  // namespace subfleet
