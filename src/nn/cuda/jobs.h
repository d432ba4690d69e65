#pragma once

#include <cstdint>

#include "nn/cuda/device.h"

// The two ends of a step: the examples that go in, and how the logits that come out are scored.
namespace subfleet::cuda {

// One client's round, on the GPU.
struct DeviceJob {
  const float* inputs = nullptr;  // its examples
  const int32_t* labels = nullptr;
  const uint32_t* order = nullptr;  // in which the examples are used, one epoch after the other
  double* losses = nullptr;         // one per entry of that order
  uint32_t* correct = nullptr;      // likewise: 0 or 1
  uint32_t examples = 0, epochs = 0;
  uint32_t slot = 0;  // where its sums go
};

// Fills the rows of x with the jobs' batches of that step. If a batch has fewer rows, the rest are zeros.
void fill_batches(const DeviceJob* jobs, int count, int batch, uint32_t step, int features, float* x,
                  cudaStream_t stream);

// Softmax cross-entropy of one row of logits per example. Writes its gradient (of the batch's mean; 0 for
// rows without an example), each example's loss, and whether it was right.
void score_batches(const DeviceJob* jobs, int count, int batch, uint32_t step, const float* logits,
                   int classes, float* gradient, cudaStream_t stream);

// Adds up each job's losses and hits, in the order of its examples.
void sum_scores(const DeviceJob* jobs, int count, double* losses, uint32_t* correct, cudaStream_t stream);

// Scores chunks of `chunk` test examples: sums over the first `examples` rows.
void score_chunks(const float* logits, const int32_t* labels, int examples, int chunk, int classes,
                  double* losses, uint32_t* correct, cudaStream_t stream);

}  // namespace subfleet::cuda
