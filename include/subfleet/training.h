#pragma once

#include <functional>
#include <span>

#include "subfleet/run.h"

namespace subfleet {

// Sees every round of a run and changes nothing of it: logs, saves, shows.
class RoundObserver {
 public:
  virtual ~RoundObserver() = default;
  // After each round; the run stands behind it.
  virtual void round_done(Run& run, const RoundRecord& record) = 0;
};

// One round, tested where its turn has come (run.eval_every, and the last) and shown to the observers in
// their order. Throws Diverged.
RoundRecord train_round(Run& run, std::span<RoundObserver* const> observers);

// Such rounds up to run.rounds; `stop` is asked before every round. Returns whether all rounds are done.
bool train(Run& run, std::span<RoundObserver* const> observers, const std::function<bool()>& stop);

// Adds to a round that the run has just done its test and its time, `seconds` and the test's.
void measure_round(Run& run, RoundRecord& record, double seconds);

}  // namespace subfleet
