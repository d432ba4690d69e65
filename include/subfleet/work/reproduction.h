#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "subfleet/reproduce/experiment_result.h"
#include "subfleet/reproduce/pool.h"
#include "subfleet/work/run_group.h"
#include "subfleet/work/trial_searches.h"
#include "subfleet/work/work_left.h"

namespace subfleet {

// Sees the progress of experiments.
class ReproductionObserver : public GroupObserver {
 public:
  // Searches are done: what they found, in words, how long they took, and how long the rest will take.
  struct Searched {
    std::string title, found;
    double seconds = 0;
    std::optional<double> seconds_left = std::nullopt;
  };
  virtual void on_searched(const Searched& searched) = 0;
  // An ensemble was tested; empty if a member diverged.
  virtual void on_ensemble(const std::string& title, const std::optional<Evaluation>& test) = 0;
  // An experiment is complete, and its table is written.
  virtual void on_experiment(const Experiment& experiment, const ExperimentResult& result) = 0;
};

// Makes what experiments lack, group after group of trials, in one process. Their tables replace those of
// earlier calls; the results join all tables that exist.
class Reproduction {
 public:
  static constexpr auto kTable = "results.md", kResults = "results.json";

  struct Options {
    std::filesystem::path out;
    Pool::Use use = Pool::Use::kAdd;
    std::string device = "cpu";
    size_t threads = 0;   // 0: one per core
    size_t together = 1;  // runs that differ in their seeds alone, side by side
  };
  // `names`: all existing experiments, in the order of their tables.
  Reproduction(std::vector<Experiment> experiments, std::vector<std::string> names, const Options& options);

  const std::vector<Experiment>& experiments() const { return experiments_; }
  const Pool& pool() const { return pool_; }
  // How well ours agree with the paper, by the names of the experiments whose tables were written.
  const std::vector<std::pair<std::string, std::vector<Agreement>>>& agreements() const {
    return agreements_;
  }

  // Returns false if it was stopped; the next call goes on.
  bool make_all(ReproductionObserver& observer, const std::function<bool()>& stop);

  // The tables of what is there; makes nothing.
  void write_tables();

 private:
  // Who sees it, and when to stop.
  struct Watch {
    ReproductionObserver& observer;
    const std::function<bool()>& stop;
  };
  std::filesystem::path table(const std::string& name, const char* end) const;
  ExperimentResult write_table(const Experiment& experiment);
  void put_together() const;
  void settle_rates(Experiment& experiment, bool must);
  void count_from(size_t first);
  void check_data(size_t number, const std::vector<Trial>& trials);
  bool make(size_t number, const Watch& watch);
  bool make(size_t number, const std::vector<Trial>& group, const Watch& watch);
  bool train(size_t number, const std::vector<Trial>& group, const std::string& title, const Watch& watch);
  bool search(const std::vector<Trial>& trials, const SearchGroup& group, const Watch& watch);
  void test_members(const Trial& ensemble, const std::string& title, ReproductionObserver& observer);

  std::vector<Experiment> experiments_;
  std::vector<std::string> names_;
  std::vector<std::pair<std::string, std::vector<Agreement>>> agreements_;
  Pool pool_;
  SharedFleets fleets_;
  size_t together_;
  WorkLeft left_;
  size_t done_ = 0;  // trials
};

}  // namespace subfleet
