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
  // Before the first step, with all jobs in it, and after every step of the layers; a job has `size` weights.
  void begin(const Step& step, size_t size);
  void finish(const Step& step, size_t size);

 private:
  ClientRule rule_;
  Buffer<float> before_, movement_, given_;  // ClientArrays
};

}  // namespace subfleet::cuda
