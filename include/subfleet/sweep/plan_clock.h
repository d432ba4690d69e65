#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace subfleet {

// How far a sweep is and how long the rest will take. It multiplies every run's remaining rounds by the time
// its rounds took so far or, before its first round, by the mean of the other runs. If a run stands for
// several, a round is one of their rounds.
class PlanClock {
 public:
  explicit PlanClock(size_t runs) : runs_(runs) {}

  // expect() adds rounds that a run still has to do; learn() says how long rounds took in all.
  void expect(size_t run, uint32_t rounds) { runs_[run].to_come += rounds; }
  void learn(size_t run, uint32_t rounds, double seconds);
  // Of the expected rounds, some are done or will not come.
  void rounds_done(size_t run, uint32_t rounds, double seconds);
  void give_up(size_t run, uint32_t rounds) { runs_[run].to_come -= rounds; }

  double done() const;                         // of all rounds that were expected, 0 to 1
  std::optional<double> seconds_left() const;  // empty before the first round

 private:
  struct Pace {
    uint64_t to_come = 0, done = 0;  // of this call's rounds
    double measured = 0, seconds = 0;
  };
  std::vector<Pace> runs_;
};

}  // namespace subfleet
