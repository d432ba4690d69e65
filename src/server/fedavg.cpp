#include "server/optimizers.h"
#include "server/weight_ranges.h"

namespace subfleet {
namespace {

// McMahan et al. 2017, with a server learning rate: w += lr * mean.
class FedAvg final : public ServerOptimizer {
 public:
  explicit FedAvg(const OptimizerOptions& options) : lr_(options.lr) {}

  void step(std::span<float> weights, const PartialSum& updates, std::span<const JobReport>,
            ThreadPool& pool) override {
    for_weight_ranges(weights.size(), pool, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        if (!updates.held(i)) continue;
        weights[i] = static_cast<float>(static_cast<double>(weights[i]) + lr_ * updates.mean(i));
      }
    });
  }

 private:
  double lr_;
};

}  // namespace

std::unique_ptr<ServerOptimizer> make_fedavg(const OptimizerOptions& options, size_t) {
  return std::make_unique<FedAvg>(options);
}

}  // namespace subfleet
