#include "subfleet/fleet/remote/job_runner.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "nn/client_pipeline.h"
#include "nn/jobs.h"
#include "nn/trainers.h"
#include "subfleet/error.h"
#include "subfleet/trainer.h"

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
void check_size(const JobMessage& message, size_t weights) {
  if (weights > JobRunner::kMostWeights) {
    throw bad_request("job", fmt::format("a sub-model of {} weights; at most {} can be held", weights,
                                         JobRunner::kMostWeights));
  }
  check_weights(message, weights);
}

Job job_of(const JobMessage& message, const SubModel* submodel = nullptr) {
  return {.client = message.client, .row = message.row, .submodel = submodel};
}

// Without the update.
UpdateMessage answer(const JobMessage& job, const JobResult& result) {
  return {.draw = job.draw,
          .row = job.row,
          .examples = result.examples,
          .loss = result.loss,
          .accuracy = result.accuracy,
          .update = {}};
}

}  // namespace

void check_weights(const JobMessage& message, size_t weights) {
  const Codec& down = find_codec(message.down);
  if (message.weights.size() == down.encoded_size(weights)) return;
  throw bad_request("job",
                    fmt::format("{} bytes of weights; the sub-model's {} weights are {} in {}",
                                message.weights.size(), weights, down.encoded_size(weights), down.name()));
}

void decode_weights(const JobMessage& message, std::span<float> weights) {
  find_codec(message.down).decode(message.weights, job_key(message, Purpose::kWireDown), weights);
}

UpdateMessage update_message(const JobMessage& job, const JobResult& result, std::span<const float> update) {
  UpdateMessage message = answer(job, result);
  encode_update(cohort_of(job), job_of(job), update, message.update);
  return message;
}

RandomKey job_key(const JobMessage& job, Purpose purpose) {
  return {.seed = job.seed, .round = job.draw, .client = job.client, .purpose = purpose};
}

JobRunner::JobRunner(const ExampleSource& examples, std::string_view device)
    : source_(examples), client_(std::make_unique<ClientPipeline>(host_networks(device))) {
  client_->keep_little_memory();
}

JobRunner::~JobRunner() = default;

RanJob JobRunner::run(std::vector<std::byte> bytes) {
  JobMessage message = decode_job(bytes);
  std::exchange(bytes, {});  // each copy of the weights goes as soon as there is the next
  check_training(message.local);
  const Cohort cohort = cohort_of(message);
  const SubModel submodel = submodels_.of(message);
  const Job job = job_of(message, &submodel);
  check_size(message, submodel.size());
  const JobResult result = client_->train(cohort, job, source_, [&](std::span<float> weights) {
    decode_weights(message, weights);
    std::exchange(message.weights, {});
  });
  if (result.outcome == JobOutcome::kRejected)
    throw bad_request(fmt::format("client {}", job.client), result.why);
  UpdateMessage reply = answer(message, result);
  client_->send(cohort, job, reply.update);
  client_->release();
  return {.update = encode(reply),
          .client = message.client,
          .weights = submodel.size(),
          .examples = result.examples,
          .loss = result.loss,
          .accuracy = result.accuracy};
}

}  // namespace subfleet
