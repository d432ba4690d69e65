#include "fleet/remote/job_runner.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "nn/aligned.h"
#include "nn/jobs.h"
#include "nn/trainers.h"
#include "server/message.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

void check_training(const LocalTraining& how) {
  if (how.epochs == 0 || how.epochs > JobRunner::kMostEpochs) {
    throw bad_request("job",
                      fmt::format("{} epochs; 1 to {} can be done", how.epochs, JobRunner::kMostEpochs));
  }
  if (how.batch == 0) throw bad_request("job", "0 examples in a batch; at least 1 is wanted");
  if (!std::isfinite(how.client_lr))
    throw bad_request("job", fmt::format("a learning rate of {} is not a number", how.client_lr));
}

// Looked at before any memory of that size is taken.
void check_weights(const JobMessage& message, const Codec& down, size_t weights) {
  if (weights > JobRunner::kMostWeights) {
    throw bad_request("job", fmt::format("a sub-model of {} weights; at most {} can be held", weights,
                                         JobRunner::kMostWeights));
  }
  if (message.weights.size() != down.encoded_size(weights)) {
    throw bad_request("job",
                      fmt::format("{} bytes of weights; the sub-model's {} weights are {} in {}",
                                  message.weights.size(), weights, down.encoded_size(weights), down.name()));
  }
}

}  // namespace

JobRunner::JobRunner(const ExampleSource& examples, std::string_view device)
    : source_(examples), sgd_(host_networks(device)) {}

RanJob JobRunner::run(std::vector<std::byte> bytes) {
  JobMessage message = decode_job(bytes);
  std::exchange(bytes, {});  // each copy of the weights goes as soon as there is the next
  check_training(message.local);
  const Cohort cohort = cohort_of(message);
  const SubModel submodel = named_submodel(message);
  const Job job{.client = message.client, .row = message.row, .submodel = &submodel};
  check_weights(message, *cohort.wire.down, submodel.size());

  source_.read_train(job.client, examples_);
  check_examples(examples_, submodel.spec(), fmt::format("client {}", job.client));
  JobResult result{.outcome = JobOutcome::kTrained, .examples = static_cast<uint32_t>(examples_.count())};
  if (const auto fault = fault_in(result, message.rows))
    throw bad_request(fmt::format("client {}", job.client), *fault);

  AlignedFloats trained(submodel.size());
  cohort.wire.down->decode(message.weights, job_key(cohort, job, Purpose::kWireDown), trained);
  std::exchange(message.weights, {});
  std::vector<float> update(trained.begin(), trained.end());
  const Score total =
      sgd_.train(submodel.spec(), trained, examples_, cohort.how, job_key(cohort, job, Purpose::kBatchOrder));
  set_means(result, cohort.how, total.loss, total.correct);
  for (size_t i = 0; i < update.size(); ++i) update[i] = trained[i] - update[i];
  std::exchange(trained, {});

  UpdateMessage reply{.draw = message.draw,
                      .row = message.row,
                      .examples = result.examples,
                      .loss = result.loss,
                      .accuracy = result.accuracy,
                      .update = {}};
  cohort.wire.up->encode(update, job_key(cohort, job, Purpose::kWireUp), reply.update);
  std::exchange(update, {});
  const size_t weights = submodel.size();
  return {.update = encode(reply),
          .client = message.client,
          .weights = weights,
          .examples = result.examples,
          .loss = result.loss,
          .accuracy = result.accuracy};
}

}  // namespace subfleet
