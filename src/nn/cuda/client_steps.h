#pragma once

#include <cstddef>

#include "nn/client_rule.h"
#include "nn/cuda/device.h"
#include "nn/cuda/layer.h"

namespace subfleet::cuda {

// Turns the layers' plain SGD steps into the steps that a group's settings ask for: momentum, weight decay,
// proximal term.
class ClientSteps {
 public:
  // Room for `values` weights: those of all jobs, including the gaps between them.
  void reserve(const ClientRule& rule, size_t values);
  // Call begin() before the first step, with all jobs in it, and finish() after every step of the layers. A
  // job has `size` weights.
  void begin(const Step& step, size_t size);
  void finish(const Step& step, size_t size);

 private:
  ClientRule rule_;
  Buffer<float> before_, movement_, given_;  // ClientArrays
};

}  // namespace subfleet::cuda
