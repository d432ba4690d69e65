#include "subfleet/sweep/plan_clock.h"

#include <cmath>

namespace subfleet {

void PlanClock::learn(size_t run, uint32_t rounds, double seconds) {
  if (!std::isfinite(seconds)) return;
  runs_[run].measured += rounds;
  runs_[run].seconds += seconds;
}

void PlanClock::rounds_done(size_t run, uint32_t rounds, double seconds) {
  runs_[run].to_come -= rounds;
  runs_[run].done += rounds;
  learn(run, rounds, seconds);
}

double PlanClock::done() const {
  double done = 0, all = 0;
  for (const Pace& run : runs_) {
    done += static_cast<double>(run.done);
    all += static_cast<double>(run.done + run.to_come);
  }
  return all == 0 ? 1 : done / all;
}

std::optional<double> PlanClock::seconds_left() const {
  double paces = 0, known = 0;
  for (const Pace& run : runs_) {
    if (run.measured == 0) continue;
    paces += run.seconds / run.measured;
    ++known;
  }
  if (known == 0) return std::nullopt;
  double left = 0;
  for (const Pace& run : runs_) {
    const double pace = run.measured == 0 ? paces / known : run.seconds / run.measured;
    left += static_cast<double>(run.to_come) * pace;
  }
  return left;
}

}  // namespace subfleet
