#include "optimizers/own_optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "optimizers/weight_math.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

struct Registered {
  std::mutex mutex;
  std::vector<std::shared_ptr<const OwnOptimizer>> optimizers;
};

Registered& registered() {
  static Registered all;
  return all;
}

class HostOwnOptimizer final : public ServerOptimizer {
 public:
  HostOwnOptimizer(std::shared_ptr<const OwnOptimizer> own, OptimizerOptions options, size_t weights)
      : own_(std::move(own)), options_(std::move(options)), names_(own_->moments()) {
    if (options_.average > 0) average_.assign(weights, 0.0f);
    moments_.assign(names_.size(), std::vector<float>(weights, 0.0f));
  }

  bool step(std::span<float> weights, const PartialSum& updates, const ServerRound& round,
            ThreadPool&) override {
    const Averaging averaging{options_.mean == "all", static_cast<uint32_t>(updates.examples())};
    std::vector<float> mean(weights.size());
    for (size_t i = 0; i < mean.size(); ++i) {
      mean[i] = static_cast<float>(PartialSum::mean_of(updates.sums()[i], averaging(updates.holders()[i])));
    }
    const std::vector<float> before(weights.begin(), weights.end());
    const std::vector<std::vector<float>> moments_before = moments_;
    std::vector<std::span<float>> moments(moments_.begin(), moments_.end());
    own_->step(weights, mean, moments, round.lr == 0 ? own_->default_lr() : round.lr);
    if (options_.unheld == "freeze") {
      for (size_t i = 0; i < weights.size(); ++i) {
        if (updates.held(i)) continue;
        weights[i] = before[i];
        for (size_t m = 0; m < moments_.size(); ++m) moments_[m][i] = moments_before[m][i];
      }
    }
    for (size_t i = 0; i < average_.size(); ++i) {
      average_[i] = static_cast<float>(round.keep_average * static_cast<double>(average_[i]) +
                                       (1 - round.keep_average) * static_cast<double>(weights[i]));
    }
    return std::ranges::all_of(weights, [](float weight) { return is_finite(weight) != 0; });
  }

  std::vector<MutableMoment> moments() override {
    std::vector<MutableMoment> all;
    if (!average_.empty()) all.push_back({std::string(kAverage), average_});
    for (size_t i = 0; i < moments_.size(); ++i) all.push_back({names_[i], moments_[i]});
    return all;
  }

 private:
  std::shared_ptr<const OwnOptimizer> own_;
  OptimizerOptions options_;
  std::vector<std::string> names_;
  std::vector<float> average_;
  std::vector<std::vector<float>> moments_;
};

}  // namespace

void register_server_optimizer(std::shared_ptr<const OwnOptimizer> optimizer) {
  const std::string name = optimizer->name();
  if (name.empty())
    throw bad_request("server optimizer", "its name is empty; it is that of server.optimizer");
  const std::vector<std::string> known = server_optimizer_names();
  if (std::ranges::find(known, name) != known.end()) {
    throw bad_request("server optimizer", fmt::format("'{}' is there already; choose another name", name));
  }
  Registered& all = registered();
  const std::lock_guard lock(all.mutex);
  all.optimizers.push_back(std::move(optimizer));
}

std::vector<std::shared_ptr<const OwnOptimizer>> own_optimizers() {
  Registered& all = registered();
  const std::lock_guard lock(all.mutex);
  return all.optimizers;
}

std::shared_ptr<const OwnOptimizer> own_optimizer(std::string_view name) {
  for (auto& own : own_optimizers()) {
    if (own->name() == name) return own;
  }
  return nullptr;
}

std::unique_ptr<ServerOptimizer> host_optimizer(std::shared_ptr<const OwnOptimizer> own,
                                                const OptimizerOptions& options, size_t weights) {
  return std::make_unique<HostOwnOptimizer>(std::move(own), options, weights);
}

}  // namespace subfleet
