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

constexpr int kTurned = 32;  // filters that a block turns at once

// Reads along the filters and writes along the taps. Grid: channels, filters / kTurned, jobs.
__global__ void step_by_tap_parts_kernel(const float* parts, int splits, int taps, StepWeights weights) {
  extern __shared__ float sums[];  // [filter][tap]
  const int channel = blockIdx.x, first = blockIdx.y * kTurned, job = blockIdx.z, filters = weights.filters;
  const size_t size = static_cast<size_t>(filters) * (weights.depth + 1);
  const float* mine = parts + static_cast<size_t>(job) * splits * size;
  const auto total = [&](size_t at) {
    float sum = 0;
#pragma unroll 5
    for (int split = 0; split < splits; ++split) sum += mine[split * size + at];
    return sum;
  };
#pragma unroll 4
  for (int i = threadIdx.x; i < taps * kTurned; i += blockDim.x) {
    const int filter = i % kTurned, tap = i / kTurned;
    const bool there = first + filter < filters;
    const float sum =
        total((static_cast<size_t>(tap) * gridDim.x + channel) * filters + (there ? first + filter : 0));
    if (there) sums[filter * taps + tap] = sum;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < taps * kTurned; i += blockDim.x) {
    const int filter = i / taps, tap = i % taps;
    if (first + filter < filters) weights.step(job, channel * taps + tap, first + filter, sums[i]);
  }
  if (channel > 0 || threadIdx.x >= kTurned || first + threadIdx.x >= filters) return;
  weights.step(job, weights.depth, first + threadIdx.x,
               total(static_cast<size_t>(weights.depth) * filters + first + threadIdx.x));
}

}  // namespace

void step_by_tap_parts(const float* parts, int splits, int taps, const StepWeights& weights, int jobs,
                       cudaStream_t stream) {
  const dim3 grid(weights.depth / taps, (weights.filters + kTurned - 1) / kTurned, jobs);
  step_by_tap_parts_kernel<<<grid, 256, taps * kTurned * sizeof(float), stream>>>(parts, splits, taps,
                                                                                  weights);
  check_launch("stepping weights");
}

void step_by_parts(const float* parts, int splits, const StepWeights& weights, int jobs,
                   cudaStream_t stream) {
  constexpr int kBlock = 256;
  const dim3 grid((weights.filters * (weights.depth + 1) + kBlock - 1) / kBlock, jobs);
  step_by_parts_kernel<<<grid, kBlock, 0, stream>>>(parts, splits, weights);
  check_launch("stepping weights");
}

}  // namespace subfleet::cuda
