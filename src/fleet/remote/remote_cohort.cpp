#include "subfleet/fleet/remote/remote_cohort.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

#include "nn/jobs.h"
#include "subfleet/error.h"
#include "subfleet/server_state.h"

namespace subfleet {
namespace {

JobResult rejected(std::string why) { return {.outcome = JobOutcome::kRejected, .why = std::move(why)}; }

}  // namespace

RemoteCohort::RemoteCohort(const Cohort& cohort, std::string model)
    : cohort_(cohort), message_(job_message(cohort, std::move(model))), sum_(parameter_count(*cohort.model)) {
  check_cohort(cohort, sum_.size());
}

std::span<const std::byte> RemoteCohort::message(size_t index) {
  const Job& to = job(index);
  values_.resize(to.submodel->size());
  to.submodel->gather(cohort_.state->weights(), values_);
  message_.row = to.row;
  message_.client = to.client;
  cohort_.wire.down->encode(values_, job_key(cohort_, to, Purpose::kWireDown), message_.weights);
  encoded_ = encode(message_);
  return encoded_;
}

JobResult RemoteCohort::judge(size_t index, std::span<const std::byte> reply) {
  const Job& asked = job(index);
  const Codec& up = *cohort_.wire.up;
  UpdateView update;
  try {
    update = view_update(reply);
  } catch (const Error& error) {
    return rejected(error.what());
  }
  if (update.draw != cohort_.draw || update.row != asked.row) {
    return rejected(fmt::format("an update for row {} of draw {}; row {} of draw {} was asked for",
                                update.row, update.draw, asked.row, cohort_.draw));
  }
  const size_t size = up.encoded_size(asked.submodel->size());
  if (update.update.size() != size) {
    return rejected(fmt::format("an update of {} bytes; {} values as {} are {}", update.update.size(),
                                asked.submodel->size(), up.name(), size));
  }
  // A loss that is not a number is what an honest client has whose training diverged.
  const bool loss_is_finite = std::isfinite(update.loss);
  JobResult result{.outcome = loss_is_finite ? JobOutcome::kTrained : JobOutcome::kDiverged,
                   .examples = update.examples,
                   .loss = loss_is_finite ? update.loss : 0,
                   .accuracy = update.accuracy};
  if (auto fault = fault_in(result, cohort_.rows)) return rejected(std::move(*fault));
  if (!loss_is_finite) return result;

  values_.resize(asked.submodel->size());
  try {
    up.decode(update.update, job_key(cohort_, asked, Purpose::kWireUp), values_);
  } catch (const Error&) {  // of the right size, so a block of it is not finite
    result.outcome = JobOutcome::kDiverged;
    return result;
  }
  add_update(cohort_, asked, values_, sum_, result);
  return result;
}

void RemoteCohort::merge() const {
  cohort_.state->with_sum([&](PartialSum& sum) { sum.merge(sum_); });
}

}  // namespace subfleet
