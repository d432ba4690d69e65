#include "nn/softmax_cross_entropy.h"

#include <algorithm>
#include <cmath>

namespace subfleet {
namespace {

// Comparisons with NaN are false, so a row with one is never right.
template <typename Real>
bool is_correct(std::span<const Real> row, size_t label) {
  for (size_t i = 0; i < row.size(); ++i) {
    const bool beaten = i < label ? row[label] > row[i] : row[label] >= row[i];
    if (!beaten) return false;
  }
  return true;
}

template <typename Real>
Score score_rows(std::span<const Real> logits, std::span<const int32_t> labels, std::span<Real> gradient) {
  Score score;
  if (labels.empty()) return score;
  const size_t classes = logits.size() / labels.size();
  const auto batch = static_cast<double>(labels.size());
  for (size_t i = 0; i < labels.size(); ++i) {
    const std::span<const Real> row = logits.subspan(i * classes, classes);
    const auto label = static_cast<size_t>(labels[i]);
    const double largest = *std::max_element(row.begin(), row.end());
    double sum = 0;
    for (const Real logit : row) sum += std::exp(logit - largest);
    score.loss += std::log(sum) + largest - row[label];
    score.correct += is_correct(row, label) ? 1 : 0;
    if (gradient.empty()) continue;
    for (size_t j = 0; j < classes; ++j) {
      const double probability = std::exp(row[j] - largest) / sum;
      gradient[i * classes + j] = static_cast<Real>((probability - (j == label ? 1.0 : 0.0)) / batch);
    }
  }
  return score;
}

}  // namespace

Score softmax_cross_entropy(std::span<const float> logits, std::span<const int32_t> labels,
                            std::span<float> gradient) {
  return score_rows(logits, labels, gradient);
}

Score softmax_cross_entropy(std::span<const double> logits, std::span<const int32_t> labels,
                            std::span<double> gradient) {
  return score_rows(logits, labels, gradient);
}

}  // namespace subfleet
