#include "fleet/remote/remote_round.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "nn/jobs.h"
#include "server/message.h"
#include "subfleet/error.h"
#include "subfleet/server_state.h"

namespace subfleet {
namespace {

void reject(JobResult& result, std::string why) {
  result.outcome = JobOutcome::kRejected;
  result.why = std::move(why);
}

}  // namespace

RemoteRound::RemoteRound(std::span<const Cohort> cohorts) : cohorts_(cohorts) {
  for (size_t i = 0; i < cohorts.size(); ++i) {
    const size_t weights = parameter_count(*cohorts[i].model);
    check_cohort(cohorts[i], weights);
    for (size_t job = 0; job < cohorts[i].jobs.size(); ++job) places_.push_back({.cohort = i, .job = job});
    results_.emplace_back(cohorts[i].jobs.size());
    sums_.emplace_back(weights);
  }
}

const Job& RemoteRound::job(size_t index) const { return cohort(index).jobs[places_[index].job]; }
JobResult& RemoteRound::entry(size_t index) { return results_[places_[index].cohort][places_[index].job]; }
const JobResult& RemoteRound::result(size_t index) const {
  return results_[places_[index].cohort][places_[index].job];
}
bool RemoteRound::answered(size_t index) const { return places_[index].answered; }

std::span<const std::byte> RemoteRound::message(size_t index) {
  const Cohort& of = cohort(index);
  const Job& to = job(index);
  values_.resize(to.submodel->size());
  to.submodel->gather(of.state->weights(), values_);
  JobMessage message = job_message(of);
  message.row = to.row;
  message.client = to.client;
  of.wire.down->encode(values_, job_key(of, to, Purpose::kWireDown), message.weights);
  message_ = encode(message);
  return message_;
}

void RemoteRound::take_reply(size_t index, std::span<const std::byte> reply) {
  if (answered(index)) return;
  places_[index].answered = true;
  judge(index, reply, entry(index));
}

void RemoteRound::judge(size_t index, std::span<const std::byte> reply, JobResult& result) {
  const Cohort& of = cohort(index);
  const Job& asked = job(index);
  UpdateMessage update;
  try {
    update = decode_update(reply);
  } catch (const Error& error) {
    return reject(result, error.what());
  }
  if (update.draw != of.draw || update.row != asked.row) {
    return reject(result, fmt::format("an update for row {} of draw {}; row {} of draw {} was asked for",
                                      update.row, update.draw, asked.row, of.draw));
  }
  const size_t size = of.wire.up->encoded_size(asked.submodel->size());
  if (update.update.size() != size) {
    return reject(result, fmt::format("an update of {} bytes; {} values as {} are {}", update.update.size(),
                                      asked.submodel->size(), of.wire.up->name(), size));
  }
  JobResult claims = result;
  claims.examples = update.examples;
  claims.loss = update.loss;
  claims.accuracy = update.accuracy;
  // A loss that is not a number is what an honest client has whose training diverged.
  const bool loss_is_finite = std::isfinite(claims.loss);
  if (!loss_is_finite) claims.loss = 0;
  if (auto fault = fault_in(claims, of.rows)) return reject(result, std::move(*fault));
  claims.outcome = loss_is_finite ? JobOutcome::kTrained : JobOutcome::kDiverged;
  result = std::move(claims);
  if (!loss_is_finite) return;

  values_.resize(asked.submodel->size());
  try {
    of.wire.up->decode(update.update, job_key(of, asked, Purpose::kWireUp), values_);
  } catch (const Error&) {  // of the right size, so a block of it is not finite
    result.outcome = JobOutcome::kDiverged;
    return;
  }
  if (of.squared_norms) result.squared_norm = squared_norm(values_);
  if (result.examples > 0 && !sums_[places_[index].cohort].add(*asked.submodel, values_, result.examples))
    result.outcome = JobOutcome::kDiverged;
}

void RemoteRound::leave_out(size_t index, JobOutcome outcome, std::string why) {
  if (answered(index)) return;
  places_[index].answered = true;
  entry(index).outcome = outcome;
  entry(index).why = std::move(why);
}

std::vector<size_t> RemoteRound::try_again() {
  std::vector<size_t> again;
  for (size_t index = 0; index < jobs(); ++index) {
    JobResult& was = entry(index);
    if (was.outcome == JobOutcome::kTrained || was.outcome == JobOutcome::kDiverged) continue;
    places_[index].answered = false;
    was = {.bytes_down = was.bytes_down, .bytes_up = was.bytes_up};
    again.push_back(index);
  }
  return again;
}

void RemoteRound::add_traffic(size_t index, const Traffic& traffic) {
  entry(index).bytes_down += traffic.down;
  entry(index).bytes_up += traffic.up;
}

size_t RemoteRound::gave_update(size_t cohort) const {
  return static_cast<size_t>(std::ranges::count_if(results_[cohort], [](const JobResult& result) {
    return result.outcome == JobOutcome::kTrained || result.outcome == JobOutcome::kDiverged;
  }));
}

bool RemoteRound::enough_replies(double share) const {
  for (size_t i = 0; i < cohorts_.size(); ++i) {
    if (static_cast<double>(gave_update(i)) < share * static_cast<double>(results_[i].size())) return false;
  }
  return true;
}

std::vector<std::vector<JobResult>> RemoteRound::close() {
  for (size_t i = 0; i < cohorts_.size(); ++i)
    cohorts_[i].state->with_sum([&](PartialSum& sum) { sum.merge(sums_[i]); });
  return std::move(results_);
}

}  // namespace subfleet
