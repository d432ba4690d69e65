#pragma once

#include <memory>
#include <vector>

#include "subfleet/server_optimizer.h"
#include "subfleet/server_state.h"

namespace subfleet {

class ThreadPool;

// A server's state in this process' memory.
class HostState final : public ServerState {
 public:
  // The pool outlives it.
  HostState(const ModelSpec& model, const OptimizerOptions& options, ThreadPool& pool);

  const ModelSpec& model() const override { return model_; }
  std::span<const float> weights() override { return weights_; }
  std::vector<Moment> moments() override;
  std::span<const float> tested_weights() override;
  void set_weights(std::span<const float> weights) override;
  void set_moments(std::span<const std::vector<float>> moments) override;
  void clear_sum() override { sum_.clear(); }
  void with_sum(const std::function<void(PartialSum&)>& visit) override { visit(sum_); }
  bool step(const ServerRound& round) override;

  PartialSum& sum() { return sum_; }

 private:
  std::span<float> average();  // empty: none is kept
  [[nodiscard]] bool average_statistics(std::span<const float> before);

  // Weights that are averaged and not stepped: so many from there on.
  struct Statistic {
    size_t begin = 0, count = 0;
  };

  ModelSpec model_;
  std::vector<Statistic> statistics_;
  ThreadPool& pool_;
  std::vector<float> weights_;
  std::unique_ptr<ServerOptimizer> optimizer_;
  PartialSum sum_;
};

}  // namespace subfleet
