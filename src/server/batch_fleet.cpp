#include "subfleet/batch_fleet.h"

#include <algorithm>
#include <utility>

#include "subfleet/error.h"

namespace subfleet {

uint64_t BatchFleet::submit(const Cohort& cohort) {
  Waiting& waiting = waiting_.emplace_back();
  waiting.cohort = cohort;
  waiting.jobs.assign(cohort.jobs.begin(), cohort.jobs.end());
  for (size_t job = 0; job < cohort.jobs.size(); ++job) waiting.ids.push_back({tickets_, job});
  return tickets_++;
}

std::optional<FinishedJob> BatchFleet::next(double) {
  if (finished_.empty()) train_waiting();
  if (finished_.empty()) return std::nullopt;
  FinishedJob job = std::move(finished_.front());
  finished_.pop_front();
  return job;
}

void BatchFleet::train_waiting() {
  const std::vector<Waiting> batch = std::exchange(waiting_, {});
  std::vector<Cohort> cohorts;
  for (const Waiting& waiting : batch) {
    cohorts.push_back(waiting.cohort);
    cohorts.back().jobs = waiting.jobs;
  }
  if (cohorts.empty()) return;
  std::vector<std::vector<JobResult>> results = train_batch(cohorts);
  for (size_t i = 0; i < batch.size(); ++i) {
    for (size_t job = 0; job < batch[i].ids.size(); ++job)
      finished_.push_back({batch[i].ids[job], std::move(results[i][job])});
  }
}

JobResult BatchFleet::cancel(const JobId& id, JobOutcome outcome, const std::string& why) {
  if (const auto ended = std::ranges::find(finished_, id, &FinishedJob::id); ended != finished_.end()) {
    JobResult result = std::move(ended->result);
    finished_.erase(ended);
    return result;
  }
  for (Waiting& waiting : waiting_) {
    const auto found = std::ranges::find(waiting.ids, id);
    if (found == waiting.ids.end()) continue;
    waiting.jobs.erase(waiting.jobs.begin() + (found - waiting.ids.begin()));
    waiting.ids.erase(found);
    return {.outcome = outcome, .why = why};
  }
  throw failure("fleet", "cannot cancel a job that is not under way");
}

void BatchFleet::abandon() {
  waiting_.clear();
  finished_.clear();
}

}  // namespace subfleet
