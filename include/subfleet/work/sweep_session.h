#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <future>
#include <string>
#include <vector>

#include "subfleet/sweep/plan.h"
#include "subfleet/sweep/results.h"
#include "subfleet/sweep/sweep_folder.h"
#include "subfleet/work/run_group.h"

namespace subfleet {

// Reads the file of a sweep, as parse_sweep does. Throws Error for ensembles, which are an experiment's.
SweepPlan read_sweep(const std::filesystem::path& file, const std::function<void(Config&)>& change);

// A run of a sweep with one seed, both as numbers of the plan.
struct SweepTrial {
  size_t run = 0, seed = 0;
  bool operator==(const SweepTrial&) const = default;
};

// The trials of the runs whose names have one of these parts (none given: all runs) with the first `seeds`
// seeds (0: all). Trials with the same data stand together. Among them, every run comes with the first seed
// before any comes with the second, so that there is early something to compare. Empty if no name has such a
// part.
std::vector<SweepTrial> choose_trials(const SweepPlan& plan, const std::vector<std::string>& name_parts,
                                      size_t seeds);

// Trains the runs of a sweep into its folder, which it locks, and writes the results.
class SweepSession {
 public:
  // `together`: how many runs that differ in their seeds alone train side by side.
  struct Options {
    std::string device = "cpu";
    size_t threads = 0;  // 0: one per core
    size_t together = 1;
  };
  // Makes the folder if needed. The plan must outlive the session.
  SweepSession(const SweepPlan& plan, const std::filesystem::path& folder, const Options& options);

  // Takes the trials that are not finished, reads their data and checks that all fit. Returns how many trials
  // there are. Throws Error, naming the run that does not fit.
  size_t prepare(std::vector<SweepTrial> trials);

  // Trains what was prepared, group after group, and writes the results after each. Returns false if it was
  // stopped; the next session goes on.
  bool train(GroupObserver& observer, const std::function<bool()>& stop);

  // The results of all finished runs and seeds.
  SweepResults results() const;
  // Writes them into the folder as JSON, as Markdown and as a chart.
  void write_results() const;

 private:
  Config config_of(const SweepTrial& trial) const { return plan_.config(trial.run, plan_.seeds[trial.seed]); }
  void check_data();
  void set_clock();
  bool train(const std::vector<SweepTrial>& group, size_t done, size_t all, const PlanContext& context);

  const SweepPlan& plan_;
  size_t together_;
  SharedFleets fleets_;
  SweepFolder folder_;
  std::vector<std::vector<RoundLog>> logs_;  // of what is over
  PlanClock clock_;
  std::vector<SweepTrial> trials_;  // to be trained
  std::future<void> awake_;         // the device wakes while the data are read
};

}  // namespace subfleet
