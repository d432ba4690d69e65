#include "subfleet/local_fleet.h"

namespace subfleet {

LocalFleet::LocalFleet(SplitFederation data, std::unique_ptr<Trainer> trainer, uint64_t eval_samples)
    : data_(std::move(data)), trainer_(std::move(trainer)), eval_samples_(eval_samples) {}

std::vector<JobReport> LocalFleet::train(std::span<const float> weights, std::span<const Job> jobs,
                                         const LocalTraining& how, PartialSum& sum) {
  return trainer_->train(weights, jobs, read_examples(), how, sum);
}

std::vector<std::vector<JobReport>> LocalFleet::train_together(std::span<const Cohort> cohorts) {
  return trainer_->train_together(cohorts, read_examples());
}

ReadExamples LocalFleet::read_examples() const {
  return [this](uint32_t client, Examples& into) { data_.read_train(client, into); };
}

Evaluation LocalFleet::evaluate(const ModelSpec& model, std::span<const float> weights) {
  if (!test_set_) test_set_ = data_.test_set(eval_samples_);
  return trainer_->evaluate(model, weights, *test_set_);
}

}  // namespace subfleet
