#include <algorithm>
#include <vector>

#include "optimizers/move_by_means.h"
#include "optimizers/optimizers.h"

namespace subfleet {
namespace {

// Jhunjhunwala et al. 2023 (FedExP): no rate to tune; the more the clients' updates disagree, the further the
// server goes along their mean:
//   eta = max(1, sum_k p_k |delta_k|^2 / (2 (|mean|^2 + tau))),    w += lr * eta * mean,
// p_k being the client's share of the round's examples. With sub-models a weight's mean is over those who
// held it, and in |mean|^2 it counts by their share of the examples: both sums are then over the same updates
// of single weights, eta is at least 1/2 before the maximum as in the paper, and without dropout it is the
// paper's.
class FedExp final : public ServerOptimizer {
 public:
  explicit FedExp(const OptimizerOptions& options) : lr_(options.lr), tau_(options.tau) {}

  bool step(std::span<float> weights, const PartialSum& updates, std::span<const JobResult> results,
            ThreadPool& pool) override {
    const double of_clients = mean_squared_norm(results), of_mean = squared_norm_of_mean(updates, pool);
    return move_by_means(weights, updates, lr_ * std::max(1.0, of_clients / (2 * (of_mean + tau_))), pool);
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

  // The pieces are always the same, and added in their order.
  static double squared_norm_of_mean(const PartialSum& updates, ThreadPool& pool) {
    std::vector<double> pieces(weight_range_count(updates.size()), 0.0);
    for_weight_ranges(updates.size(), pool, [&](size_t begin, size_t end) {
      double sum = 0;
      for (size_t i = begin; i < end; ++i) sum += updates.share(i) * updates.mean(i) * updates.mean(i);
      pieces[weight_range_count(begin)] = sum;
    });
    double sum = 0;
    for (const double piece : pieces) sum += piece;
    return sum;
  }

  double lr_, tau_;
};

}  // namespace

std::unique_ptr<ServerOptimizer> make_fedexp(const OptimizerOptions& options, size_t) {
  return std::make_unique<FedExp>(options);
}

}  // namespace subfleet
