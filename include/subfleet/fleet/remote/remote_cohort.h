#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "subfleet/partial_sum.h"
#include "subfleet/round.h"
#include "subfleet/server/message.h"

namespace subfleet {

// A cohort of a RemoteFleet whose jobs are out: its jobs as messages, its replies judged, and the sum of
// their updates so far.
class RemoteCohort {
 public:
  // What the cohort points to outlives it; `model` is the text of its model (server/message.h). Throws Error
  // for a cohort that no trainer could work with.
  RemoteCohort(const Cohort& cohort, std::string model);

  const Job& job(size_t index) const { return cohort_.jobs[index]; }

  // The encoded JobMessage of a job, until the next call.
  std::span<const std::byte> message(size_t index);

  // Looks at an encoded UpdateMessage and, if it holds, adds its update.
  JobResult judge(size_t index, std::span<const std::byte> reply);

  // Adds the sum to the state's.
  void merge() const;

  size_t out = 0;  // jobs that have not ended; the sender counts them

 private:
  Cohort cohort_;
  JobMessage message_;  // of the cohort; each job's fields and weights are put into it
  PartialSum sum_;
  std::vector<float> values_;
  std::vector<std::byte> encoded_;
};

}  // namespace subfleet
