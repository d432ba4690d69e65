#pragma once

#include <functional>
#include <utility>

#include "base/stopwatch.h"
#include "report/progress.h"
#include "subfleet/training.h"

namespace subfleet {

// Shows every round of a run as it is done, and says who was left out.
class RoundProgress final : public RoundObserver {
 public:
  // What a plan says of itself after a round of one of its runs that took so long.
  using Plan = std::function<PlanLine(double seconds)>;

  // `bytes` were exchanged before.
  RoundProgress(Progress& progress, uint64_t bytes, Plan plan = {})
      : progress_(progress), bytes_(bytes), plan_(std::move(plan)) {}
  void round_done(Run& run, const RoundRecord& record) override;

 private:
  Progress& progress_;
  uint64_t bytes_;
  Plan plan_;
  Stopwatch watch_;
  double shown_at_ = 0;
};

}  // namespace subfleet
