#pragma once

#include <memory>
#include <vector>

#include "subfleet/server_optimizer.h"

namespace subfleet {

// Those that the program has registered.
std::vector<std::shared_ptr<const OwnOptimizer>> own_optimizers();

// What a run steps with.
std::unique_ptr<ServerOptimizer> host_optimizer(std::shared_ptr<const OwnOptimizer> own,
                                                const OptimizerOptions& options, size_t weights);

}  // namespace subfleet
