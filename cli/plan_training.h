#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "interrupt.h"
#include "report/progress.h"
#include "shared_fleets.h"
#include "sweep/plan_clock.h"

// Training runs that are part of a plan.
namespace subfleet::cli {

inline PlanLine plan_line(const PlanClock& clock) { return {clock.done(), clock.seconds_left()}; }

// A run that is one of many: the clock's run of that number.
struct RunOfPlan {
  Config config;
  std::filesystem::path path;
  std::string name;  // for messages: "run 'gold', seed 2"
  size_t number = 0;
  bool for_good = false;  // no checkpoint is kept of what is over
};

// Trains runs side by side, each in its run folder, or goes on with them, to their last rounds, and gives
// them the bits that they have alone. They share a fleet. One that diverges ends with a round whose loss is
// no number. `title` is what is shown of them: "3-7/40 gold". False if they were stopped before their end.
bool train_runs_of_plan(std::span<const RunOfPlan> group, const std::string& title, SharedFleets& fleets,
                        PlanClock& clock, Progress::Mode mode, const InterruptWatch& watch);

}  // namespace subfleet::cli
