#pragma once

#include <span>
#include <vector>

#include "subfleet/round.h"

namespace subfleet {

// Every non-empty set of momentum, weight decay and proximal term.
inline std::vector<LocalTraining> trainings_beyond_plain_sgd() {
  std::vector<LocalTraining> all;
  for (unsigned which = 1; which < 8; ++which) {
    all.push_back({.epochs = 2,
                   .batch = 4,
                   .client_lr = 0.1f,
                   .momentum = (which & 1) != 0 ? 0.9f : 0.0f,
                   .weight_decay = (which & 2) != 0 ? 0.3f : 0.0f,
                   .proximal = (which & 4) != 0 ? 0.7f : 0.0f});
  }
  return all;
}

// SGD as PyTorch's documentation has it, with FedProx's term in the gradient.
class SgdInDoubles {
 public:
  explicit SgdInDoubles(std::span<const float> given)
      : given_(given.begin(), given.end()), weights_(given_), velocity_(given_.size(), 0.0) {}

  void step(const LocalTraining& how, const std::vector<double>& gradient) {
    for (size_t i = 0; i < weights_.size(); ++i) {
      const double d = gradient[i] + static_cast<double>(how.proximal) * (weights_[i] - given_[i]) +
                       static_cast<double>(how.weight_decay) * weights_[i];
      velocity_[i] = static_cast<double>(how.momentum) * velocity_[i] + d;
      weights_[i] -= static_cast<double>(how.client_lr) * velocity_[i];
    }
  }
  const std::vector<double>& weights() const { return weights_; }

 private:
  std::vector<double> given_, weights_, velocity_;
};

}  // namespace subfleet
