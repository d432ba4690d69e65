#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "plan_training.h"
#include "reproduce/pool.h"

namespace subfleet::cli {

// What searches came to.
struct SearchesDone {
  uint32_t rounds = 0;  // of all their candidates
  std::string found;    // in words
};

// Makes the searches of trials that differ in their seeds alone side by side, or counts the rounds to the
// target with each of their rates, and saves what comes of them. The clock's run `number` expects so many
// rounds of all their candidates together, and is told otherwise on the way. `title` is what is shown of
// them. None if they were stopped before their end, and nothing is saved.
std::optional<SearchesDone> search_trials(std::span<const Trial> group, const std::string& title,
                                          size_t number, uint32_t expected, SharedFleets& fleets,
                                          PlanClock& clock, Progress::Mode mode, const InterruptWatch& watch);

}  // namespace subfleet::cli
