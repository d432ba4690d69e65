#pragma once

#include <cstddef>
#include <type_traits>

#include "base/host_device.h"
#include "subfleet/round.h"

namespace subfleet {

// The weights of a job on their way through a round; only `weights` where the rule is plain.
struct ClientArrays {
  float* weights = nullptr;
  float* before = nullptr;       // what they were before the step
  float* movement = nullptr;     // that the step before has made, where there is momentum
  const float* given = nullptr;  // what they were when the round began, where there is a proximal term
};

// A client's step on one weight, written once for all devices: PyTorch's SGD with momentum and weight decay,
// and the proximal term of FedProx (Li et al. 2020),
//
//   v = momentum * v + gradient + weight_decay * w + proximal * (w - given),   0 when the round begins,
//   w = w - lr * v.
//
// The layers have stepped already, by -lr * gradient. The rate stays the same all through a round, so what is
// kept from step to step is the movement, -lr * v.
struct ClientRule {
  float lr = 0, momentum = 0, weight_decay = 0, proximal = 0;

  ClientRule() = default;
  explicit ClientRule(const LocalTraining& how)
      : lr(how.client_lr), momentum(how.momentum), weight_decay(how.weight_decay), proximal(how.proximal) {}
  bool operator==(const ClientRule&) const = default;

  // What the layers do is all there is.
  bool is_plain() const { return momentum == 0 && weight_decay == 0 && proximal == 0; }

  // How many arrays there are beside the weights.
  size_t arrays() const {
    return is_plain() ? 0 : size_t{1} + (momentum != 0 ? 1 : 0) + (proximal != 0 ? 1 : 0);
  }

  // After the layers' step: weight i makes the rule's instead, and is ready for the next.
  template <bool kMomentum, bool kProximal>
  SUBFLEET_HOST_DEVICE void finish(const ClientArrays& a, size_t i) const {
    const float w = a.before[i];
    const float way = kProximal ? w - a.given[i] : 0.0f;
    float movement = (a.weights[i] - w) - lr * (weight_decay * w + proximal * way);
    if constexpr (kMomentum) a.movement[i] = movement = momentum * a.movement[i] + movement;
    a.weights[i] = a.before[i] = w + movement;
  }

  // Calls work(momentum, proximal) with the flags of finish() as types.
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
