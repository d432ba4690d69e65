#include "subfleet/local_fleet.h"

#include <fmt/format.h>

#include <utility>

#include "subfleet/error.h"
#include "subfleet/server/message.h"

namespace subfleet {

const Examples& LocalFleet::FleetExamples::test_set() const {
  std::call_once(made_, [this] { test_set_ = data_.test_set(eval_samples_); });
  return test_set_;
}

LocalFleet::LocalFleet(SplitFederation data, std::string_view device, ThreadPool& pool, uint64_t eval_samples)
    : data_(std::move(data)),
      device_(device),
      pool_(pool),
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

namespace {

// One client's test examples, to be tested with.
class ClientExamples final : public ExampleSource {
 public:
  explicit ClientExamples(Examples test) : test_(std::move(test)) {}
  void read_train(uint32_t, Examples& into) const override { into.reset(test_.features, 0); }
  const Examples& test_set() const override { return test_; }

 private:
  Examples test_;
};

}  // namespace

// By a trainer of its own, because a trainer may keep the test set it has seen.
Evaluation LocalFleet::evaluate(ServerState& state, uint32_t client) {
  if (device_ != "cpu" && device_ != "reference") return Fleet::evaluate(state, client);
  if (client >= clients()) {
    throw bad_request("client", fmt::format("{} is not there; they are 0 to {}", client, clients() - 1));
  }
  const ClientExamples examples(data_.test(client));
  Evaluation total;
  if (examples.test_set().count() == 0) return total;
  const auto trainer = make_trainer(device_, pool_, examples);
  for (const Evaluation& chunk : trainer->evaluate(state, 0, chunk_count(examples.test_set().count())))
    total += chunk;
  return total;
}

}  // namespace subfleet
