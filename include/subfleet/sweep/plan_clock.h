#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace subfleet {

// How far a sweep is and how long its rest will take: the rounds of every run to come times what its rounds
// took so far, or, before its first, the mean of the other runs' rounds. A run may stand for several: then a
// round is that of one of them.
class PlanClock {
 public:
  explicit PlanClock(size_t runs) : runs_(runs) {}

  // So many rounds of a run are still to come, or took so long in all.
  void expect(size_t run, uint32_t rounds) { runs_[run].to_come += rounds; }
  void learn(size_t run, uint32_t rounds, double seconds);
  // Of those that were expected, some are done or will not come.
  void rounds_done(size_t run, uint32_t rounds, double seconds);
  void give_up(size_t run, uint32_t rounds) { runs_[run].to_come -= rounds; }

  double done() const;                         // of all rounds that were expected, 0 to 1
  std::optional<double> seconds_left() const;  // none before the first round

 private:
  struct Pace {
    uint64_t to_come = 0, done = 0;  // of this call's rounds
    double measured = 0, seconds = 0;
  };
  std::vector<Pace> runs_;
};

}  // namespace subfleet
