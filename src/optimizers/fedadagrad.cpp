#include "optimizers/adaptive.h"
#include "optimizers/optimizers.h"

namespace subfleet {
namespace {

struct FedAdagrad {
  static double second_moment(double v, double m2, double /*beta2*/) { return v + m2; }
};

}  // namespace

std::unique_ptr<ServerOptimizer> make_fedadagrad(const OptimizerOptions& options, size_t weights) {
  return std::make_unique<Adaptive<FedAdagrad>>(options, weights);
}

}  // namespace subfleet
