#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "fleet/remote/transport.h"
#include "subfleet/partial_sum.h"
#include "subfleet/round.h"

namespace subfleet {

// One round as the server of a RemoteFleet sees it: the jobs as messages, what became of each, and the sums
// of the updates so far. Jobs are counted over all cohorts.
class RemoteRound {
 public:
  // The cohorts outlive it. Throws Error for cohorts that no trainer could work with.
  explicit RemoteRound(std::span<const Cohort> cohorts);

  size_t jobs() const { return places_.size(); }
  const Job& job(size_t index) const;
  const JobResult& result(size_t index) const;

  // The encoded JobMessage of a job, until the next call.
  std::span<const std::byte> message(size_t index);

  // Looks at an encoded UpdateMessage and, if it holds, adds it. A job that has its result keeps it: a second
  // answer is not looked at.
  void take_reply(size_t index, std::span<const std::byte> reply);
  // Leaves a job out, if it has no result yet.
  void leave_out(size_t index, JobOutcome outcome, std::string why);
  bool answered(size_t index) const;

  // Forgets what became of the jobs that another try may help, and says which they are.
  std::vector<size_t> try_again();

  void add_traffic(size_t index, const Traffic& traffic);

  // Whether at least this share of every cohort's clients gave an update.
  bool enough_replies(double share) const;

  // Adds the sums to the states' and hands over the results.
  std::vector<std::vector<JobResult>> close();

 private:
  struct Place {
    size_t cohort = 0, job = 0;
    bool answered = false;
  };
  const Cohort& cohort(size_t index) const { return cohorts_[places_[index].cohort]; }
  JobResult& entry(size_t index);
  size_t gave_update(size_t cohort) const;
  // What became of a job with that answer; adds its update.
  void judge(size_t index, std::span<const std::byte> reply, JobResult& result);

  std::span<const Cohort> cohorts_;
  std::vector<Place> places_;
  std::vector<std::vector<JobResult>> results_;
  std::vector<PartialSum> sums_;  // one per cohort
  std::vector<float> values_;
  std::vector<std::byte> message_;
};

}  // namespace subfleet
