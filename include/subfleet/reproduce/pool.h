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

// A search that is over, as much of it as experiments use.
struct FinishedSearch {
  std::optional<double> log10;  // of the rate that it found; none: nothing reached the target
  SearchWinner winner = {};
  uint32_t rounds = 0;      // that rate's to the target
  double extra_rounds = 0;  // what it cost beside them, by the paper's formula
};

// log10 of a rate, and the rounds to the target; none: not reached.
using RateRounds = std::map<double, std::optional<uint32_t>>;

// A run of an experiment with one seed, and where what comes of it lies.
struct Trial {
  ExperimentKind kind = ExperimentKind::kRuns;
  std::string name;  // of its run
  Config config;
  std::vector<double> rates;     // kRates
  std::filesystem::path path{};  // a run folder, or a JSON file
  std::vector<Trial> members{};  // of an ensemble: its runs, each with a seed of its own
};

// What came of the runs of one reading: what is not finished is missing.
struct Measured {
  const SweepPlan* plan = nullptr;
  SweepResults results;                                              // kRuns
  std::vector<std::vector<std::optional<FinishedSearch>>> searches;  // kSearches: [run][seed]
  std::vector<std::vector<std::optional<RateRounds>>> rates;         // kRates: [run][seed]
};

// The folder of all experiments: runs/, ensembles/ and searches/, in which equal configurations are one,
// whichever experiment asks for them and whatever it calls them, and times.jsonl.
class Pool {
 public:
  // To be added to: makes the folder where needed, and locks it while this object lives. To be looked at: it
  // may not be there, and another process may be adding to it.
  enum class Use { kAdd, kReadOnly };
  explicit Pool(const std::filesystem::path& path, Use use = Use::kAdd);

  const std::filesystem::path& path() const { return path_; }

  Trial trial(const Experiment& experiment, const SweepPlan& plan, size_t run, uint64_t seed) const;
  // All of them, reading by reading and seed by seed; none of facts.
  std::vector<Trial> trials(const Experiment& experiment) const;
  // Those that are to be made, each once, in an order in which they can be: before an ensemble those of its
  // members that are not trained yet.
  std::vector<Trial> missing(const Experiment& experiment) const;

  // What is there of a reading.
  Measured measured(const Experiment& experiment, size_t reading) const;
  // Everything that trained for it.
  std::vector<std::string> trainers(const Experiment& experiment) const;

  // How long trials that were made side by side took, or the part of them that was.
  void add_time(std::span<const Trial> together, double seconds) const;
  // What all such times of the experiments' trials come to, each trial counted once; none unless all of them
  // have one.
  std::optional<double> seconds(std::span<const Experiment> experiments) const;

 private:
  void add_members(Trial& ensemble, const SweepPlan& plan, size_t run, uint64_t seed) const;
  std::filesystem::path place(const char* folder, const std::string& name, const std::string& settings) const;

  std::filesystem::path path_;
  std::optional<FolderLock> lock_;
  mutable std::map<std::string, std::filesystem::path> places_;  // by folder and settings
};

// What a pool puts behind the name of a run, from the seed on: "3-0123456789.json" of
// "gold-3-0123456789.json". Empty if the name is not a pool's.
std::string_view settings_in(std::string_view name);

// Of an ensemble: that its test is saved, whether or not its members' folders are still there.
bool is_finished(const Trial& trial);
// What came of a search, or the rounds to the target with each of the trial's rates, none where it was not
// reached; `trainer` says what trained them.
void save(const Trial& trial, const RateSearch& search, const std::string& trainer);
void save(const Trial& trial, std::span<const std::optional<uint32_t>> rounds, const std::string& trainer);
// What came of an ensemble whose members are finished: its one test, none if a member diverged, and what the
// members have exchanged.
void save(const Trial& ensemble, const std::optional<Evaluation>& test);

// Gives the runs of an experiment with rates_from what those searches found for the run and reading of the
// same names: to seeds that go on from one its winner, to others the rate that was found most often, the
// lower of equals. False if one has none yet.
bool take_rates(Experiment& experiment, const Experiment& searches, const Pool& pool);

}  // namespace subfleet
