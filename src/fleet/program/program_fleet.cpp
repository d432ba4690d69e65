#include "subfleet/program_fleet.h"

#include <algorithm>
#include <cmath>

#include "nn/host_state.h"
#include "nn/jobs.h"
#include "subfleet/error.h"
#include "subfleet/server/message.h"
#include "subfleet/trainer.h"

namespace subfleet {

namespace {

// Statistics, which are few, travel as they are: a codec of few bits could make a variance negative.
std::span<float> learnt_part(const SubModel& submodel, std::span<float> values) {
  return values.first(learnt_count(submodel.spec()));
}

size_t bytes_of(const Codec& codec, const SubModel& submodel) {
  const size_t learnt = learnt_count(submodel.spec());
  return codec.encoded_size(learnt) + (submodel.size() - learnt) * sizeof(float);
}

}  // namespace

std::unique_ptr<ServerState> ProgramFleet::make_state(const ModelSpec& model,
                                                      const OptimizerOptions& options) {
  return std::make_unique<HostState>(model, options, pool_);
}

std::vector<float> ProgramFleet::initial_weights(const ModelSpec& model, uint64_t seed) const {
  std::vector<float> weights = program_.initial_weights();
  return weights.empty() ? Fleet::initial_weights(model, seed) : weights;
}

std::vector<std::vector<JobResult>> ProgramFleet::train_batch(std::span<const Cohort> cohorts) {
  std::vector<std::vector<JobResult>> results;
  for (const Cohort& cohort : cohorts) {
    check_cohort(cohort, cohort.state->weights().size());
    std::vector<JobResult>& all = results.emplace_back();
    const size_t step = std::max<size_t>(1, program_.jobs_at_once());
    for (size_t first = 0; first < cohort.jobs.size(); first += step) {
      if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) throw Interrupted();
      const size_t count = std::min(step, cohort.jobs.size() - first);
      const std::vector<JobResult> some = train_some(cohort, cohort.jobs.subspan(first, count));
      all.insert(all.end(), some.begin(), some.end());
    }
  }
  return results;
}

std::vector<JobResult> ProgramFleet::train_some(const Cohort& cohort, std::span<const Job> jobs) {
  const std::span<const float> weights = cohort.state->weights();
  std::vector<ClientJob> clients(jobs.size());
  std::vector<std::vector<float>> given(jobs.size());
  pool_.parallel_for(jobs.size(), [&](size_t i, size_t) {
    const Job& job = jobs[i];
    clients[i] = {.client = job.client,
                  .seed = cohort.seed,
                  .draw = cohort.draw,
                  .submodel = job.submodel,
                  .how = cohort.how,
                  .weights = std::vector<float>(job.submodel->size())};
    job.submodel->gather(weights, clients[i].weights);
    cohort.wire.down->transmit(learnt_part(*job.submodel, clients[i].weights),
                               job_key(cohort, job, Purpose::kWireDown));
    given[i] = clients[i].weights;
  });
  program_.train(clients);
  const size_t down = envelope_size(job_message(cohort, texts_.of(*cohort.model))),
               up = envelope_size(UpdateMessage{});
  std::vector<JobResult> results;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const Job& job = jobs[i];
    JobResult& result = results.emplace_back(std::move(clients[i].result));
    result.bytes_down = bytes_of(*cohort.wire.down, *job.submodel) + down;
    if (clients[i].weights.size() != given[i].size())
      throw failure("train", "the program returned another number of weights than it was given");
    result.outcome = JobOutcome::kTrained;
    if (auto fault = fault_in(result, cohort.rows); fault && std::isfinite(result.loss)) {
      result.outcome = JobOutcome::kRejected;
      result.why = std::move(*fault);
      continue;
    }
    result.bytes_up = bytes_of(*cohort.wire.up, *job.submodel) + up;
    make_update(clients[i].weights, given[i]);
    cohort.wire.up->transmit(learnt_part(*job.submodel, given[i]), job_key(cohort, job, Purpose::kWireUp));
    cohort.state->with_sum([&](PartialSum& sum) { add_update(cohort, job, given[i], sum, result); });
  }
  return results;
}

Evaluation ProgramFleet::evaluate(ServerState& state) { return program_.test(state.tested_weights()); }

}  // namespace subfleet
