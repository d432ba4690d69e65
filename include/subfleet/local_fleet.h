#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "subfleet/data.h"
#include "subfleet/fleet.h"

namespace subfleet {

// A fleet inside this process: every client's data are at hand, and one trainer runs the jobs.
class LocalFleet final : public Fleet {
 public:
  // Evaluates with about `eval_samples` test examples, the same ones each time; 0 is all of them.
  LocalFleet(SplitFederation data, std::unique_ptr<Trainer> trainer, uint64_t eval_samples);

  uint32_t clients() const override { return data_.clients(); }
  uint32_t classes() const override { return data_.all().classes(); }
  Shape input() const override { return data_.all().input(); }
  std::vector<JobReport> train(std::span<const float> weights, std::span<const Job> jobs,
                               const LocalTraining& how, PartialSum& sum) override;
  std::vector<std::vector<JobReport>> train_together(std::span<const Cohort> cohorts) override;
  Evaluation evaluate(const ModelSpec& model, std::span<const float> weights) override;

 private:
  ReadExamples read_examples() const;

  SplitFederation data_;
  std::unique_ptr<Trainer> trainer_;
  uint64_t eval_samples_;
  std::optional<Examples> test_set_;  // made when first needed
};

}  // namespace subfleet
