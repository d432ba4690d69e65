#pragma once

#include <cmath>
#include <vector>

#include "server/weight_ranges.h"
#include "subfleet/server_optimizer.h"

namespace subfleet {

// Reddi et al. 2020, Algorithm 2, as the paper prints it: momentum m = beta1 m + (1 - beta1) mean, a second
// moment v made from the squared momentum by Rule::second_moment(v, m^2, beta2), and w += lr * m / (sqrt(v) +
// tau). No bias correction; m and v start at 0.
template <typename Rule>
class Adaptive final : public ServerOptimizer {
 public:
  Adaptive(const OptimizerOptions& options, size_t weights)
      : options_(options), freeze_(options.unheld == "freeze"), m_(weights, 0.0f), v_(weights, 0.0f) {}

  void step(std::span<float> weights, const PartialSum& updates, std::span<const JobReport>,
            ThreadPool& pool) override {
    const double lr = options_.lr, beta1 = options_.beta1, tau = options_.tau;
    for_weight_ranges(weights.size(), pool, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        if (freeze_ && !updates.held(i)) continue;
        const double m = beta1 * static_cast<double>(m_[i]) + (1 - beta1) * updates.mean(i);
        const double v = Rule::second_moment(static_cast<double>(v_[i]), m * m, options_.beta2);
        m_[i] = static_cast<float>(m);
        v_[i] = static_cast<float>(v);
        weights[i] = static_cast<float>(static_cast<double>(weights[i]) + lr * m / (std::sqrt(v) + tau));
      }
    });
  }

  std::vector<Moment> moments() override { return {{"m", m_}, {"v", v_}}; }

 private:
  OptimizerOptions options_;
  bool freeze_;
  std::vector<float> m_, v_;
};

}  // namespace subfleet
