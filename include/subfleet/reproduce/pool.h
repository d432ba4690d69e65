#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "subfleet/rate_search.h"
#include "subfleet/reproduce/experiment.h"
#include "subfleet/store/folder_lock.h"
#include "subfleet/sweep/results.h"

namespace subfleet {

// What experiments use of a finished search.
struct FinishedSearch {
  std::optional<double> log10;  // of the rate that it found; empty: no rate reached the target
  SearchWinner winner = {};
  uint32_t rounds = 0;      // that this rate took to the target
  double extra_rounds = 0;  // what the search cost beyond them, by the paper's formula
};

// log10 of a rate, and the rounds to the target; empty: not reached.
using RateRounds = std::map<double, std::optional<uint32_t>>;

// A run of an experiment with one seed, and where its results lie.
struct Trial {
  ExperimentKind kind = ExperimentKind::kRuns;
  std::string name;  // of its run
  Config config;
  std::vector<double> rates;     // kRates
  std::filesystem::path path{};  // a run folder, or a JSON file
  std::vector<Trial> members{};  // of an ensemble: its runs, each with a seed of its own
};

// The results of the runs of one reading; unfinished ones are missing.
struct Measured {
  const SweepPlan* plan = nullptr;
  SweepResults results;                                              // kRuns
  std::vector<std::vector<std::optional<FinishedSearch>>> searches;  // kSearches: [run][seed]
  std::vector<std::vector<std::optional<RateRounds>>> rates;         // kRates: [run][seed]
};

// The folder of all experiments: runs/, ensembles/, searches/ and times.jsonl. Equal configurations share an
// entry, whichever experiment asks for them and whatever it calls them.
class Pool {
 public:
  // kAdd makes the folder if needed, and locks it while this object lives. With kReadOnly the folder may be
  // missing, and another process may be adding to it.
  enum class Use { kAdd, kReadOnly };
  explicit Pool(const std::filesystem::path& path, Use use = Use::kAdd);

  const std::filesystem::path& path() const { return path_; }

  Trial trial(const Experiment& experiment, const SweepPlan& plan, size_t run, uint64_t seed) const;
  // All trials, reading by reading and seed by seed; empty for facts.
  std::vector<Trial> trials(const Experiment& experiment) const;
  // The trials that are still to be made, each once, in a possible order: an ensemble comes after its
  // untrained members.
  std::vector<Trial> missing(const Experiment& experiment) const;

  // What a reading's finished trials measured.
  Measured measured(const Experiment& experiment, size_t reading) const;
  // Every trainer that worked on it.
  std::vector<std::string> trainers(const Experiment& experiment) const;

  // How long trials that were made side by side took, or the part of them that was made.
  void add_time(std::span<const Trial> together, double seconds) const;
  // The sum of these times over the experiments' trials, each trial counted once; empty unless all of them
  // have a time.
  std::optional<double> seconds(std::span<const Experiment> experiments) const;

 private:
  void add_members(Trial& ensemble, const SweepPlan& plan, size_t run, uint64_t seed) const;
  std::filesystem::path place(const char* folder, const std::string& name, const std::string& settings) const;

  std::filesystem::path path_;
  std::optional<FolderLock> lock_;
  mutable std::map<std::string, std::filesystem::path> places_;  // by folder and settings
};

// The end of a name that a pool gives to a run, from the seed on: "3-0123456789.json" of
// "gold-3-0123456789.json". Empty if the name is not a pool's.
std::string_view settings_in(std::string_view name);

// For an ensemble: whether its test is saved, even if its members' folders are gone.
bool is_finished(const Trial& trial);
// Saves the result of a search, or for each of the trial's rates the rounds to the target (empty: not
// reached). `trainer` says what trained them.
void save(const Trial& trial, const RateSearch& search, const std::string& trainer);
void save(const Trial& trial, std::span<const std::optional<uint32_t>> rounds, const std::string& trainer);
// Saves the result of an ensemble whose members are finished: its one test (empty if a member diverged), and
// what the members have exchanged.
void save(const Trial& ensemble, const std::optional<Evaluation>& test);

// Gives the runs of an experiment with rates_from the rates that `searches` found for the runs and readings
// of the same names. A seed that goes on from a search gets that search's winner. Other seeds get the rate
// that was found most often; of equally frequent ones, the lower. False if a search has not finished.
bool take_rates(Experiment& experiment, const Experiment& searches, const Pool& pool);

}  // namespace subfleet
