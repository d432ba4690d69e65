#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace subfleet {

// How well a batch was classified.
struct Score {
  double loss = 0;     // summed over the examples
  size_t correct = 0;  // examples whose label has the largest logit; of equal ones the first counts
};

// Scores a row of logits per label. Unless `gradient` is empty, it gets the gradient of the mean loss with
// respect to the logits. Logits of any size are fine; with ones that are not finite the loss is not finite
// either.
Score softmax_cross_entropy(std::span<const float> logits, std::span<const int32_t> labels,
                            std::span<float> gradient);
Score softmax_cross_entropy(std::span<const double> logits, std::span<const int32_t> labels,
                            std::span<double> gradient);

}  // namespace subfleet
