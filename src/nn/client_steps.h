#pragma once

#include <span>

#include "nn/aligned.h"
#include "nn/client_rule.h"

namespace subfleet {

// Makes of a network's plain steps those that a job's settings ask for. Keeps its memory from job to job.
class ClientSteps {
 public:
  // Before a job's first step, with the weights that it was given.
  void begin(const LocalTraining& how, std::span<const float> given);

  // After each of the network's steps, from the weights that begin() or the last finish() left.
  void finish(std::span<float> weights);

 private:
  ClientRule rule_;
  AlignedFloats before_, movement_, given_;  // ClientArrays
};

}  // namespace subfleet
