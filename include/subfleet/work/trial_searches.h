#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "subfleet/reproduce/pool.h"
#include "subfleet/work/run_group.h"

namespace subfleet {

// The outcome of a group of searches.
struct SearchesDone {
  uint32_t rounds = 0;  // of all their candidates
  std::string found;    // in words
};

// What the observer and the clock know about a group of searches.
struct SearchGroup {
  std::string title;
  size_t number = 0;      // which of the clock's runs they are
  uint32_t expected = 0;  // rounds of all their candidates together
};

// Runs the searches of trials that differ only in their seeds side by side, and saves the results. With
// kRates, it counts the rounds to the target with each of the trials' rates instead. Corrects the clock if
// they take more or fewer rounds than expected. Returns nothing, and saves nothing, if stopped before the
// end.
std::optional<SearchesDone> search_trials(std::span<const Trial> trials, const SearchGroup& group,
                                          const PlanContext& context);

}  // namespace subfleet
