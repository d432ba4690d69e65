#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace subfleet {

// How well a batch was classified.
struct Score {
  double loss = 0;     // summed over the examples
  size_t correct = 0;  // examples whose label has the largest logit; the first of equals counts
};

// Scores one row of logits per label. Writes the mean loss's gradient with respect to the logits, unless
// `gradient` is empty. Logits may have any size; if some are not finite, neither is the loss.
Score softmax_cross_entropy(std::span<const float> logits, std::span<const int32_t> labels,
                            std::span<float> gradient);
Score softmax_cross_entropy(std::span<const double> logits, std::span<const int32_t> labels,
                            std::span<double> gradient);

}  // namespace subfleet
