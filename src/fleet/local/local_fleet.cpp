#include "subfleet/local_fleet.h"

#include "subfleet/server/message.h"

namespace subfleet {

const Examples& LocalFleet::FleetExamples::test_set() const {
  std::call_once(made_, [this] { test_set_ = data_.test_set(eval_samples_); });
  return test_set_;
}

LocalFleet::LocalFleet(SplitFederation data, std::string_view device, ThreadPool& pool, uint64_t eval_samples)
    : data_(std::move(data)),
      examples_(data_, eval_samples),
      trainer_(make_trainer(device, pool, examples_)) {}

std::vector<std::vector<JobResult>> LocalFleet::train_batch(std::span<const Cohort> cohorts) {
  std::vector<std::vector<JobResult>> results = trainer_->train(cohorts);
  for (size_t i = 0; i < cohorts.size(); ++i) {
    // The trainer has counted the encoded values; around them a message says what they are.
    const size_t down = envelope_size(job_message(cohorts[i], texts_.of(*cohorts[i].model))),
                 up = envelope_size(UpdateMessage{});
    for (JobResult& result : results[i]) {
      result.bytes_down += down;
      if (result.bytes_up > 0) result.bytes_up += up;  // or nothing was sent back
    }
  }
  return results;
}

Evaluation LocalFleet::evaluate(ServerState& state) {
  Evaluation total;
  for (const Evaluation& chunk : evaluate(state, 0, evaluation_chunks())) total += chunk;
  return total;
}

}  // namespace subfleet
