#include "optimizers/adaptive.h"
#include "optimizers/optimizers.h"

namespace subfleet {
namespace {

struct FedAdam {
  static double second_moment(double v, double m2, double beta2) { return beta2 * v + (1 - beta2) * m2; }
};

}  // namespace

std::unique_ptr<ServerOptimizer> make_fedadam(const OptimizerOptions& options, size_t weights) {
  return std::make_unique<Adaptive<FedAdam>>(options, weights);
}

}  // namespace subfleet
