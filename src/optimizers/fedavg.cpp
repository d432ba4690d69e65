#include "optimizers/move_by_means.h"
#include "optimizers/optimizers.h"

namespace subfleet {
namespace {

// McMahan et al. 2017, with a server learning rate: w += lr * mean.
class FedAvg final : public ServerOptimizer {
 public:
  explicit FedAvg(const OptimizerOptions& options) : lr_(options.lr) {}

  bool step(std::span<float> weights, const PartialSum& updates, std::span<const JobResult>,
            ThreadPool& pool) override {
    return move_by_means(weights, updates, lr_, pool);
  }

 private:
  double lr_;
};

}  // namespace

std::unique_ptr<ServerOptimizer> make_fedavg(const OptimizerOptions& options, size_t) {
  return std::make_unique<FedAvg>(options);
}

}  // namespace subfleet
