#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "subfleet/model.h"
#include "subfleet/partial_sum.h"
#include "subfleet/trainer.h"

namespace subfleet {

// Who runs the jobs: this process (src/fleet/local), and whatever else can hold clients.
class Fleet {
 public:
  virtual ~Fleet() = default;

  virtual uint32_t clients() const = 0;
  virtual uint32_t classes() const = 0;
  virtual Shape input() const = 0;

  // Trainer::train and Trainer::evaluate over the fleet's own data.
  virtual std::vector<JobReport> train(std::span<const float> weights, std::span<const Job> jobs,
                                       const LocalTraining& how, PartialSum& sum) = 0;
  // The cohorts of several runs, one report a job each; by default one after the other.
  virtual std::vector<std::vector<JobReport>> train_together(std::span<const Cohort> cohorts);
  virtual Evaluation evaluate(const ModelSpec& model, std::span<const float> weights) = 0;
};

}  // namespace subfleet
