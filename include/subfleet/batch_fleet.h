#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "subfleet/fleet.h"

namespace subfleet {

// A fleet that trains jobs in batches: the first next() trains everything submitted so far, without regard to
// the time, and the results are handed out one by one. Jobs can be cancelled before it.
class BatchFleet : public Fleet {
 public:
  uint64_t submit(const Cohort& cohort) final;
  std::optional<FinishedJob> next(double seconds) final;
  JobResult cancel(const JobId& id, JobOutcome outcome, const std::string& why) final;
  void abandon() final;

 protected:
  // Trains every job of every cohort, adds the updates to the states' sums and returns one result per job, in
  // order.
  virtual std::vector<std::vector<JobResult>> train_batch(std::span<const Cohort> cohorts) = 0;

 private:
  // A cohort that was submitted, with the jobs that were not cancelled.
  struct Waiting {
    Cohort cohort;
    std::vector<Job> jobs;
    std::vector<JobId> ids;
  };
  void train_waiting();

  uint64_t tickets_ = 0;
  std::vector<Waiting> waiting_;
  std::deque<FinishedJob> finished_;
};

}  // namespace subfleet
