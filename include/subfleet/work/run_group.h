#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "subfleet/sweep/plan_clock.h"
#include "subfleet/work/group_observer.h"
#include "subfleet/work/shared_fleets.h"

// Training runs that are part of a plan, several side by side.
namespace subfleet {

// A run that is one of many.
struct PlannedRun {
  Config config;
  std::filesystem::path path;
  std::string name;       // for messages: "run 'gold', seed 2"
  size_t number = 0;      // which of the clock's runs it is
  bool for_good = false;  // once it is over, no checkpoint is kept
};

// What all groups of a plan share.
struct PlanContext {
  SharedFleets& fleets;
  PlanClock& clock;
  GroupObserver& observer;
  const std::function<bool()>& stop;  // asked before every round
};

inline PlanLine plan_line(const PlanClock& clock) { return {clock.done(), clock.seconds_left()}; }

// Trains runs side by side to their last rounds, each in its run folder, where it begins or goes on. They
// share a fleet, and each has the same bits as alone. A run that diverges ends with a round whose loss is not
// a number. The observer gets `title` as their name. Returns false if they were stopped before the end.
bool train_group(std::span<const PlannedRun> group, const std::string& title, const PlanContext& context);

// Takes the first of `items`, and those after it with the same key, at most `most`, out of `items`.
template <typename Item, typename Key>
std::vector<Item> take_group(std::vector<Item>& items, size_t most, const Key& key) {
  const auto first = key(items.front());
  std::vector<Item> group, rest;
  for (Item& item : items) {
    const bool joins = group.size() < most && key(item) == first;
    (joins ? group : rest).push_back(std::move(item));
  }
  items = std::move(rest);
  return group;
}

// What is shown of a group: "3/40 gold, seed 2", or "3-7/40 gold, seeds 1, 2, 3, 4, 5". `done` of `all` runs
// were made before it.
std::string group_title(size_t done, size_t all, const std::string& name, std::span<const uint64_t> seeds);

}  // namespace subfleet
