#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "optimizers/weight_ranges.h"
#include "subfleet/server_optimizer.h"

namespace subfleet {

// Reddi et al. 2020, Algorithm 2, as the paper prints it: momentum m = beta1 m + (1 - beta1) mean, a second
// moment v made from the squared momentum by Rule::second_moment(v, m^2, beta2), and w += lr * m / (sqrt(v) +
// tau). No bias correction; m and v start at 0.
template <typename Rule>
class Adaptive final : public ServerOptimizer {
 public:
  Adaptive(OptimizerOptions options, size_t weights)
      : options_(std::move(options)), m_(weights, 0.0f), v_(weights, 0.0f) {}

  bool step(std::span<float> weights, const PartialSum& updates, std::span<const JobResult>,
            ThreadPool& pool) override {
    return all_weight_ranges(weights.size(), pool, [&](size_t begin, size_t end) {
      return step_range(weights.data(), updates, begin, end);
    });
  }

  std::vector<MutableMoment> moments() override { return {{"m", m_}, {"v", v_}}; }

 private:
  // Without branches, so that it runs at the speed of memory.
  bool step_range(float* weights, const PartialSum& updates, size_t begin, size_t end) {
    const double lr = options_.lr, beta1 = options_.beta1, beta2 = options_.beta2, tau = options_.tau;
    const bool freeze = options_.unheld == "freeze";
    const int64_t* sums = updates.sums().data();
    const uint32_t* holders = updates.holders().data();
    float *first = m_.data(), *second = v_.data();
    uint32_t finite = 1;
#pragma omp simd reduction(& : finite)
    for (size_t i = begin; i < end; ++i) {
      const bool keep = freeze && holders[i] == 0;
      const double mean = PartialSum::mean_of(sums[i], holders[i]);
      const double m = beta1 * static_cast<double>(first[i]) + (1 - beta1) * mean;
      const double v = Rule::second_moment(static_cast<double>(second[i]), m * m, beta2);
      const double moved = static_cast<double>(weights[i]) + lr * m / (std::sqrt(v) + tau);
      first[i] = keep ? first[i] : static_cast<float>(m);
      second[i] = keep ? second[i] : static_cast<float>(v);
      weights[i] = keep ? weights[i] : static_cast<float>(moved);
      finite &= is_finite(weights[i]);
    }
    return finite != 0;
  }

  OptimizerOptions options_;
  std::vector<float> m_, v_;
};

}  // namespace subfleet
