#include "nn/cuda/device.h"
#include "nn/cuda/step_weights.cuh"

namespace subfleet::cuda {
namespace {

__global__ void step_by_parts_kernel(const float* parts, int splits, StepWeights weights) {
  const int job = blockIdx.y, size = weights.filters * (weights.depth + 1);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  float sum = 0;
  for (int split = 0; split < splits; ++split)
    sum += parts[static_cast<size_t>(job * splits + split) * size + i];
  weights.step(job, i % (weights.depth + 1), i / (weights.depth + 1), sum);
}

}  // namespace

void step_by_parts(const float* parts, int splits, const StepWeights& weights, int jobs,
                   cudaStream_t stream) {
  constexpr int kBlock = 256;
  const dim3 grid((weights.filters * (weights.depth + 1) + kBlock - 1) / kBlock, jobs);
  step_by_parts_kernel<<<grid, kBlock, 0, stream>>>(parts, splits, weights);
  check_launch("stepping weights");
}

}  // namespace subfleet::cuda
