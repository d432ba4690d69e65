#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

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

  // Reads the data, unless they are there; throws Error if they do not fit.
  void check(const Config& config);
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
  std::string title;  // "3/40 gold, seed 2"
  std::string name;   // for messages: "run 'gold', seed 2"
  size_t number = 0;
};

// Trains it in its run folder, or goes on with it, to its last round; one that diverges ends with a round
// whose loss is no number. False if it was stopped before its end.
bool train_run_of_plan(const RunOfPlan& one, SharedFleets& fleets, PlanClock& clock, Progress::Mode mode,
                       const InterruptWatch& watch);

}  // namespace subfleet::cli
