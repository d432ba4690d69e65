#include "optimizers/adaptive.h"
#include "optimizers/optimizers.h"

namespace subfleet {
namespace {

struct FedYogi {
  static double second_moment(double v, double m2, double beta2) {
    const double sign = v > m2 ? 1.0 : (v < m2 ? -1.0 : 0.0);
    return v - (1 - beta2) * m2 * sign;
  }
};

}  // namespace

std::unique_ptr<ServerOptimizer> make_fedyogi(const OptimizerOptions& options, size_t weights) {
  return std::make_unique<Adaptive<FedYogi>>(options, weights);
}

}  // namespace subfleet
