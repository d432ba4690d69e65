#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "interrupt.h"
#include "report/progress.h"
#include "store/session.h"
#include "subfleet/local_fleet.h"
#include "subfleet/thread_pool.h"
#include "sweep/plan_clock.h"

// What the commands that train many runs in one process share.
namespace subfleet::cli {

// The fleets of such runs: data are read once, a device is woken once, and runs with the same data and tests
// that follow each other share a fleet.
class SharedFleets {
 public:
  SharedFleets(std::string device, size_t threads) : device_(std::move(device)), pool_(threads) {}

  const std::string& device() const { return device_; }
  Workers workers() const { return {.device = device_, .threads = static_cast<uint32_t>(pool_.threads())}; }

  // Reads the data, unless they are there; throws Error if they do not fit, or, where the model has to be
  // tested, have no test examples.
  void check(const Config& config, bool tested = false);
  // Gives up the one before, if its data are others.
  Fleet& fleet(const Config& config);

 private:
  std::string device_;
  ThreadPool pool_;
  std::map<std::string, SplitFederation> data_;  // by their settings, until their fleet takes them
  std::unique_ptr<LocalFleet> fleet_;
  std::string fleet_data_;
};

// The settings of its data and tests: equal for those that share a fleet.
std::string data_settings(const Config& config);

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

// --together: how many runs, which differ in their seeds, are trained side by side.
struct TogetherOption {
  size_t given = 0;  // 0: not

  void add_to(CLI::App& command);
  // A GPU has too little to do with the clients of one round; a processor does not gain.
  size_t runs(const std::string& device) const {
    constexpr size_t kOnGpu = 5;
    if (given != 0) return given;
    return device.starts_with("cuda") ? kOnGpu : 1;
  }
};

// The first of `items` and those after it with the same key, at most so many, taken out of `items`.
template <typename Item, typename Key>
std::vector<Item> take_group(std::vector<Item>& items, size_t most, const Key& key) {
  const auto first = key(items.front());
  std::vector<Item> group;
  std::vector<Item> rest;
  for (Item& item : items) {
    const bool joins = group.size() < most && key(item) == first;
    (joins ? group : rest).push_back(std::move(item));
  }
  items = std::move(rest);
  return group;
}

// "seed 2", or "seeds 1, 2, 3".
std::string seeds_text(std::span<const RunOfPlan> group);
// "3/40", or "3-7/40": of so many, the next `count` after those that are done.
std::string group_number(size_t done, size_t count, size_t of);

}  // namespace subfleet::cli
