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

// One round. Tests it if it is due (run.eval_every, and the last round) and shows it to the observers in
// order. Throws Diverged, or Interrupted if a fleet that can stop was told to (Fleet::stop_on()); the round
// then counts as not begun.
RoundRecord train_round(Run& run, std::span<RoundObserver* const> observers);

// Trains rounds up to run.rounds; asks `stop` before every round, and again if the fleet was
// interrupted: if it says no, the round is done anew. Returns whether all rounds are done.
bool train(Run& run, std::span<RoundObserver* const> observers, const std::function<bool()>& stop);

// Adds its test and its time, `seconds` plus the test's, to the round that the run has just done.
void measure_round(Run& run, RoundRecord& record, double seconds);

}  // namespace subfleet
