#pragma once

#include <string>
#include <vector>

#include "subfleet/base/stopwatch.h"
#include "subfleet/report/progress.h"
#include "subfleet/training.h"

namespace subfleet {

// Lines that say which clients were left out of a run's round. `name` is the run's, if there are several.
std::vector<std::string> left_out_lines(const Run& run, const RoundRecord& record,
                                        const std::string& name = {});

// Shows every round of a run as it is done, and says who was left out.
class RoundProgress final : public RoundObserver {
 public:
  // `bytes` were exchanged before.
  RoundProgress(Progress& progress, uint64_t bytes) : progress_(progress), bytes_(bytes) {}
  void round_done(Run& run, const RoundRecord& record) override;

 private:
  Progress& progress_;
  uint64_t bytes_;
  Stopwatch watch_;
  double shown_at_ = 0;
};

}  // namespace subfleet
