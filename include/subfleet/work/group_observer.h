#pragma once

#include <cstdint>
#include <string>

#include "subfleet/report/progress.h"

namespace subfleet {

// Runs or searches that train side by side, as they start.
struct GroupStart {
  enum class Kind { kRuns, kSearches };
  Kind kind = Kind::kRuns;
  std::string title;         // "3-7/40 gold, seeds 1, 2, 3, 4, 5"
  uint32_t rounds = 0;       // of the longest
  uint32_t rounds_done = 0;  // before this session, by the one that is furthest behind
  PlanLine plan = {};        // how far the whole plan is
};

// Sees the groups of a plan, one after the other, and changes nothing of them.
class GroupObserver {
 public:
  virtual ~GroupObserver() = default;
  virtual void on_start(const GroupStart& group) = 0;
  // After every round of all that still train: means over them, the bytes of all, and how far the plan is.
  virtual void on_round(const RoundLine& line) = 0;
  // A line for people: a run diverged, or clients were left out of its round.
  virtual void on_note(const std::string& line) = 0;
  // After the last round, also if the group was stopped.
  virtual void on_end() = 0;
};

}  // namespace subfleet
