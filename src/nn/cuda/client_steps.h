#pragma once

#include <cstddef>

#include "nn/client_rule.h"
#include "nn/cuda/device.h"
#include "nn/cuda/layer.h"

namespace subfleet::cuda {

// Makes of the layers' plain steps those that the settings of a group's jobs ask for.
class ClientSteps {
 public:
  // Room for so many values, those of all jobs with what lies between them.
  void reserve(const ClientRule& rule, size_t values);
  // Before the first step; reads that many values from step.weights on.
  void begin(const Step& step);
  // After every step of the layers, for the step's jobs; `size` are the values of one.
  void finish(const Step& step, size_t size);

 private:
  ClientRule rule_;
  size_t values_ = 0;
  Buffer<float> before_, movement_, given_;  // ClientArrays
};

}  // namespace subfleet::cuda
