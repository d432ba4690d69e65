#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nn/network.h"
#include "nn/softmax_cross_entropy.h"
#include "nn/symbols.h"

namespace subfleet {

// The labels of a model that has logits for every step of a sequence: the symbol at the next step and, at the
// last one, the example's label. All examples' first steps come first.
inline void label_steps(const Batch& batch, size_t steps, size_t symbols, std::vector<int32_t>& labels) {
  const size_t examples = batch.labels.size();
  labels.clear();
  for (size_t step = 1; step < steps; ++step) {
    for (size_t n = 0; n < examples; ++n) {
      labels.push_back(static_cast<int32_t>(symbol_at(batch.inputs[n * steps + step], symbols)));
    }
  }
  labels.insert(labels.end(), batch.labels.begin(), batch.labels.end());
}

// Scores rows of logits, all examples' first steps first. The loss of an example is the mean over its steps;
// what counts as correct is its last step, as in a test. `labels` is memory to reuse.
template <typename T>
Score score_steps(std::span<const T> logits, const Batch& batch, size_t steps, size_t classes,
                  std::span<T> gradient, std::vector<int32_t>& labels) {
  if (steps == 1) return softmax_cross_entropy(logits, batch.labels, gradient);
  label_steps(batch, steps, classes, labels);
  const Score all = softmax_cross_entropy(logits, labels, gradient);
  const Score last =
      softmax_cross_entropy(logits.last(batch.labels.size() * classes), batch.labels, std::span<T>());
  return {.loss = all.loss / static_cast<double>(steps), .correct = last.correct};
}

}  // namespace subfleet
