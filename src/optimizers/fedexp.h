#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "optimizers/fedavg.h"
#include "subfleet/round.h"
#include "subfleet/server_optimizer.h"

namespace subfleet {

// Jhunjhunwala et al. 2023 (FedExP): no rate to tune; the more the clients' updates disagree, the further the
// server goes along their mean:
//   eta = max(1, sum_k p_k |delta_k|^2 / (2 (|mean|^2 + tau))),    w += lr * eta * mean,
// p_k being the client's share of the round's examples. With sub-models a weight's mean is over those who
// held it, and in |mean|^2 it counts by their share of the examples: both sums are then over the same updates
// of single weights, eta is at least 1/2 before the maximum as in the paper, and without dropout it is the
// paper's.
class FedExp {
 public:
  static constexpr std::string_view kName = "fedexp";
  static constexpr double kDefaultLr = 1.0;
  static constexpr bool kWantsSquaredNorms = true;
  static constexpr std::array<std::string_view, 0> kMoments{};

  explicit FedExp(const OptimizerOptions& options) : lr_(options.lr), tau_(options.tau) {}

  FedAvg of_round(std::span<const JobResult> results, double squared_norm_of_mean) const {
    const double of_clients = mean_squared_norm(results);
    return FedAvg(lr_ * std::max(1.0, of_clients / (2 * (squared_norm_of_mean + tau_))));
  }

 private:
  // In the order of the clients, so that it has the same bits for any number of threads.
  static double mean_squared_norm(std::span<const JobResult> results) {
    double sum = 0, examples = 0;
    for (const JobResult& result : results) {
      if (result.outcome != JobOutcome::kTrained) continue;
      sum += result.squared_norm * result.examples;
      examples += result.examples;
    }
    return examples == 0 ? 0 : sum / examples;
  }

  double lr_, tau_;
};

}  // namespace subfleet
