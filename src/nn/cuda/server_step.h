#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "subfleet/round.h"
#include "subfleet/server_optimizer.h"

namespace subfleet::cuda {

// A round's sum, and what a step moves. All arrays are on the GPU and have `size` values.
struct StepArrays {
  size_t size = 0;
  const int64_t* sums = nullptr;
  const uint32_t* holders = nullptr;
  uint64_t examples = 0;
  float* weights = nullptr;
  std::span<float* const> moments;
  uint32_t* not_finite = nullptr;  // one value, which becomes 1 if a weight is no longer finite
};

// A server optimizer as kernels on a stream; gives the same bits as ServerOptimizer.
class ServerStep {
 public:
  virtual ~ServerStep() = default;
  virtual const std::vector<std::string>& moment_names() const = 0;
  virtual void run(const StepArrays& arrays, const ServerRound& round, cudaStream_t stream) = 0;
};

// The step of options.optimizer; throws Error naming the nearest.
std::unique_ptr<ServerStep> make_server_step(const OptimizerOptions& options);

}  // namespace subfleet::cuda
