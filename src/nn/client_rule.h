#pragma once

#include <cstddef>
#include <type_traits>

#include "base/host_device.h"
#include "subfleet/round.h"

namespace subfleet {

// The arrays of a job's weights during a round. A plain rule needs only `weights`.
struct ClientArrays {
  float* weights = nullptr;
  float* before = nullptr;       // the weights before the step
  float* movement = nullptr;     // made by the step before; only with momentum
  const float* given = nullptr;  // the weights when the round began; only with a proximal term
};

// A client's step on one weight, written once for all devices: PyTorch's SGD with momentum and weight decay,
// and FedProx's proximal term (Li et al. 2020),
//
//   v = momentum * v + gradient + weight_decay * w + proximal * (w - given),   0 when the round begins,
//   w = w - lr * v.
//
// The layers have already stepped by -lr * gradient. The rate does not change within a round, so what is kept
// between steps is the movement, -lr * v.
struct ClientRule {
  float lr = 0, momentum = 0, weight_decay = 0, proximal = 0;

  ClientRule() = default;
  explicit ClientRule(const LocalTraining& how)
      : lr(how.client_lr), momentum(how.momentum), weight_decay(how.weight_decay), proximal(how.proximal) {}
  bool operator==(const ClientRule&) const = default;

  // Whether the layers' step is all there is.
  bool is_plain() const { return momentum == 0 && weight_decay == 0 && proximal == 0; }

  // How many arrays are needed besides the weights.
  size_t arrays() const {
    return is_plain() ? 0 : size_t{1} + (momentum != 0 ? 1 : 0) + (proximal != 0 ? 1 : 0);
  }

  // Call it after the layers' step: turns weight i's plain step into the rule's and prepares the next.
  template <bool kMomentum, bool kProximal>
  SUBFLEET_HOST_DEVICE void finish(const ClientArrays& a, size_t i) const {
    const float w = a.before[i];
    const float way = kProximal ? w - a.given[i] : 0.0f;
    float movement = (a.weights[i] - w) - lr * (weight_decay * w + proximal * way);
    if constexpr (kMomentum) a.movement[i] = movement = momentum * a.movement[i] + movement;
    a.weights[i] = a.before[i] = w + movement;
  }

  // Calls work(momentum, proximal) with finish()'s flags as types.
  template <typename Work>
  void with_flags(const Work& work) const {
    const auto choose = [&](auto has_momentum) {
      if (proximal != 0) {
        work(has_momentum, std::true_type{});
      } else {
        work(has_momentum, std::false_type{});
      }
    };
    if (momentum != 0) {
      choose(std::true_type{});
    } else {
      choose(std::false_type{});
    }
  }
};

}  // namespace subfleet
