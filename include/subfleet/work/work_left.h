#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "subfleet/reproduce/pool.h"
#include "subfleet/sweep/plan_clock.h"

namespace subfleet {

// Equal for trials that can be made side by side. They differ only in their seeds and in what was found by
// the searches of those seeds. An ensemble is always alone.
std::string together_key(const Trial& trial);

// What is left to do of several experiments, whose trials are made in groups, and how long it will take. For
// a run its rounds count; for a search, the rounds of all its candidates.
class WorkLeft {
 public:
  explicit WorkLeft(size_t experiments) : experiments_(experiments), clock_(experiments) {}

  // Sets the trials that an experiment has yet to make, instead of those counted before.
  void count(size_t experiment, std::span<const Trial> trials);
  size_t trials() const;  // of all experiments

  // From now on the clock counts down the rounds of this group. For a search these are estimated as the mean
  // of the experiment's searches so far. Returns their number.
  uint32_t begin(size_t experiment, std::span<const Trial> group);
  // Records how many rounds that many searches really took. The clock must have counted down all that was
  // expected of them.
  void searched(size_t experiment, size_t searches, uint32_t rounds);

  PlanClock& clock() { return clock_; }

 private:
  // What an experiment has not begun, and what its searches took.
  struct Work {
    size_t trials = 0;
    uint32_t run_rounds = 0, searches = 0;
    uint32_t searches_done = 0, rounds_done = 0;

    uint32_t rounds_of_search() const;
    uint32_t rounds() const { return run_rounds + searches * rounds_of_search(); }
  };

  std::vector<Work> experiments_;
  PlanClock clock_;
};

}  // namespace subfleet
