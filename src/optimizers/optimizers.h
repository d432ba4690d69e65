#pragma once

#include <memory>

#include "subfleet/server_optimizer.h"

namespace subfleet {

// One line each in server_optimizer.cpp's table.
std::unique_ptr<ServerOptimizer> make_fedadagrad(const OptimizerOptions& options, size_t weights);
std::unique_ptr<ServerOptimizer> make_fedadam(const OptimizerOptions& options, size_t weights);
std::unique_ptr<ServerOptimizer> make_fedavg(const OptimizerOptions& options, size_t weights);
std::unique_ptr<ServerOptimizer> make_fedexp(const OptimizerOptions& options, size_t weights);
std::unique_ptr<ServerOptimizer> make_fedyogi(const OptimizerOptions& options, size_t weights);

}  // namespace subfleet
