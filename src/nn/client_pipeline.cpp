#include "nn/client_pipeline.h"

#include <fmt/format.h>

#include "nn/jobs.h"

namespace subfleet {

void make_update(std::span<const float> trained, std::span<float> given) {
  for (size_t i = 0; i < given.size(); ++i) given[i] = trained[i] - given[i];
}

JobResult ClientPipeline::train(const Cohort& cohort, const Job& job, const ExampleSource& source,
                                const Give& give, bool keep_given) {
  const ModelSpec& model = job.submodel->spec();
  source.read_train(job.client, examples_);
  check_examples(examples_, model, fmt::format("client {}", job.client));
  JobResult result{.outcome = JobOutcome::kTrained, .examples = static_cast<uint32_t>(examples_.count())};
  if (auto fault = fault_in(result, cohort.rows)) {  // too many examples: not worth the time
    result.outcome = JobOutcome::kRejected;
    result.why = std::move(*fault);
    return result;
  }
  trained_.resize(job.submodel->size());
  give(trained_);
  if (keep_given) given_.assign(trained_.begin(), trained_.end());
  is_update_ = false;
  const Score total =
      sgd_.train(model, trained_, examples_, cohort.how, job_key(cohort, job, Purpose::kBatchOrder));
  set_means(result, cohort.how, total.loss, total.correct);
  return result;
}

std::span<float> ClientPipeline::update() {
  if (!is_update_) make_update(trained_, given_);
  is_update_ = true;
  if (keep_little_) std::exchange(trained_, {});
  return given_;
}

void ClientPipeline::release() {
  std::exchange(trained_, {});
  std::exchange(given_, {});
}

}  // namespace subfleet
