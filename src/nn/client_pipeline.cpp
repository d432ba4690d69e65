#include "nn/client_pipeline.h"

#include <fmt/format.h>

#include <cmath>

#include "nn/augment.h"
#include "nn/jobs.h"
#include "subfleet/server_state.h"

namespace subfleet {
namespace {

// The fast path of a simulated client, decided here alone: where codecs lose nothing and nobody but the sum
// looks at the update, it is made while it is summed, from the server's weights, and never written.
bool is_update_needed(const Cohort& cohort) {
  const bool travels = cohort.state == nullptr;
  return travels || !is_lossless(cohort.wire) || cohort.squared_norms;
}

}  // namespace

void make_update(std::span<const float> trained, std::span<float> given) {
  for (size_t i = 0; i < given.size(); ++i) given[i] = trained[i] - given[i];
}

JobResult ClientPipeline::train(const Cohort& cohort, const Job& job, const ExampleSource& source,
                                const Give& give) {
  const ModelSpec& model = job.submodel->spec();
  source.read_train(job.client, examples_);
  check_augmentation(cohort.how, model);
  check_examples(examples_, model, fmt::format("client {}", job.client));
  JobResult result{.outcome = JobOutcome::kTrained, .examples = static_cast<uint32_t>(examples_.count())};
  if (auto fault = fault_in(result, cohort.rows)) {  // too many examples: not worth the time
    result.outcome = JobOutcome::kRejected;
    result.why = std::move(*fault);
    return result;
  }
  trained_.resize(job.submodel->size());
  give(trained_);
  if (is_update_needed(cohort)) given_.assign(trained_.begin(), trained_.end());
  const Score total =
      sgd_.train(*job.submodel, trained_, examples_, cohort.how, job_key(cohort, job, Purpose::kBatchOrder));
  set_means(result, cohort.how, total.loss, total.correct);
  return result;
}

void ClientPipeline::send(const Cohort& cohort, const Job& job, PartialSum& sum, JobResult& result) {
  if (is_update_needed(cohort)) {
    const std::span<float> sent = update();
    cohort.wire.up->transmit(sent, job_key(cohort, job, Purpose::kWireUp));
    return add_update(cohort, job, sent, sum, result);
  }
  if (result.examples == 0) return;
  if (!std::isfinite(result.loss) ||
      !sum.add_difference(*job.submodel, cohort.state->weights(), trained_, result.examples)) {
    result.outcome = JobOutcome::kDiverged;
  }
}

void ClientPipeline::send(const Cohort& cohort, const Job& job, std::vector<std::byte>& message) {
  encode_update(cohort, job, update(), message);
}

std::span<float> ClientPipeline::update() {
  make_update(trained_, given_);
  if (keep_little_) std::exchange(trained_, {});
  return given_;
}

void ClientPipeline::release() {
  std::exchange(trained_, {});
  std::exchange(given_, {});
}

}  // namespace subfleet
