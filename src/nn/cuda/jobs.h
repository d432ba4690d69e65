#pragma once

#include <cstdint>

#include "nn/cuda/device.h"

// The two ends of a step: the examples that go in, and how the logits that come out are scored.
namespace subfleet::cuda {

// One client's round, on the GPU.
struct DeviceJob {
  const float* inputs = nullptr;  // its examples
  const int32_t* labels = nullptr;
  const uint32_t* order = nullptr;  // of the examples, one epoch after the other
  double* losses = nullptr;         // one per place of that order
  uint32_t* correct = nullptr;      // likewise: 0 or 1
  uint32_t examples = 0, epochs = 0;
  uint32_t slot = 0;  // of its sums
};

// rows of x: the examples of the jobs' batches of that step; where a batch has fewer, zeros.
void fill_batches(const DeviceJob* jobs, int count, int batch, uint32_t step, int features, float* x,
                  cudaStream_t stream);

// Softmax cross-entropy of a row of logits per example: its gradient (of the batch's mean; 0 where a batch
// has fewer rows), and each example's loss and whether it was right.
void score_batches(const DeviceJob* jobs, int count, int batch, uint32_t step, const float* logits,
                   int classes, float* gradient, cudaStream_t stream);

// Adds each job's losses and hits, in the order of its examples.
void sum_scores(const DeviceJob* jobs, int count, double* losses, uint32_t* correct, cudaStream_t stream);

// For chunks of test examples: sums over the first `examples` rows, `chunk` to a chunk.
void score_chunks(const float* logits, const int32_t* labels, int examples, int chunk, int classes,
                  double* losses, uint32_t* correct, cudaStream_t stream);

}  // namespace subfleet::cuda
