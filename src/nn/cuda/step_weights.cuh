#pragma once

#include <cuda_runtime.h>

namespace subfleet::cuda {

// Steps a convolution's weights [filter][depth], and the biases after them. Row `depth` of the gradient
// belongs to the biases.
struct StepWeights {
  float* weights;
  size_t stride;
  int depth, filters;
  float client_lr;

  __device__ void step(int job, int m, int n, float gradient) const {
    float* w = weights + job * stride +
               (m < depth ? static_cast<size_t>(n) * depth + m : static_cast<size_t>(filters) * depth + n);
    *w = fmaf(-client_lr, gradient, *w);
  }
  template <typename Tile>
  __device__ void finish(int job, int, int first_m, int first_n, const Tile& tile) const {
    tile.each([&](int m, int n, float value) {
      m += first_m, n += first_n;
      if (m <= depth && n < filters) step(job, m, n, value);
    });
  }
};

// Adds the splits' parts of every gradient, [job][split][filter][depth + 1], in order, and steps the weights.
void step_by_parts(const float* parts, int splits, const StepWeights& weights, int jobs, cudaStream_t stream);

// The same for parts stored as [job][split][tap][channel][filter], followed by those of the biases.
void step_by_tap_parts(const float* parts, int splits, int taps, const StepWeights& weights, int jobs,
                       cudaStream_t stream);

}  // namespace subfleet::cuda
