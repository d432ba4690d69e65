#pragma once

#include <span>

#include "nn/aligned.h"
#include "nn/client_rule.h"

namespace subfleet {

// Turns a network's plain SGD steps into the steps that a job's settings ask for: momentum, weight decay,
// proximal term. Keeps its memory from job to job.
class ClientSteps {
 public:
  // Call it before a job's first step, with the weights that the job was given.
  void begin(const LocalTraining& how, std::span<const float> given);

  // Call it after each of the network's steps, with the weights that begin() or the last finish() left.
  void finish(std::span<float> weights);

 private:
  ClientRule rule_;
  AlignedFloats before_, movement_, given_;  // ClientArrays
};

}  // namespace subfleet
