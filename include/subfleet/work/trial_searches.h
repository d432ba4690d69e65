#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "subfleet/reproduce/pool.h"
#include "subfleet/work/run_group.h"

namespace subfleet {

// What searches came to.
struct SearchesDone {
  uint32_t rounds = 0;  // of all their candidates
  std::string found;    // in words
};

// What the observer is told of a group of searches, and what the clock expects of them.
struct SearchGroup {
  std::string title;
  size_t number = 0;      // which of the clock's runs they are
  uint32_t expected = 0;  // rounds of all their candidates together
};

// Makes the searches of trials that differ in their seeds alone side by side, or counts the rounds to the
// target with each of their rates, and saves what comes of them. The clock is corrected where they take more
// or fewer rounds than it expects. Returns none, and saves nothing, if they were stopped before their end.
std::optional<SearchesDone> search_trials(std::span<const Trial> trials, const SearchGroup& group,
                                          const PlanContext& context);

}  // namespace subfleet
