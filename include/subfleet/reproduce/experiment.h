#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "subfleet/sweep/plan.h"

namespace subfleet {

// What an experiment does with each of its runs and seeds.
enum class ExperimentKind {
  kRuns,      // trains it
  kSearches,  // searches for its best rate
  kRates,     // counts the rounds to the target with each of some rates
  kFacts,     // nothing: its values follow from the network and the codes
};

// What a publication says of a value: a number, or a side on which it lies.
struct Claim {
  enum class Kind { kNone, kEqual, kBelow, kAbove };
  Kind kind = Kind::kNone;
  double number = 0;
  double half_digit = 0;  // half of the last digit that is printed
  std::string text = {};  // as printed
};
Claim parse_claim(const std::string& text);  // "83.8", "< 0", "> 1"; throws Error

// One number of an experiment: what it is called, how it is measured, and what the paper has.
struct ExpectedValue {
  std::string what;
  std::string measure;               // of measures.h or facts.h
  std::string run, of;               // the run that is measured, and the one that it is compared with
  std::string layer;                 // facts
  std::string property;              // of code books, for "rank correlation"
  std::vector<std::string> without;  // runs that it leaves out
  std::optional<double> at;
  std::string unit;  // "%", "x"
  Claim paper;
  std::optional<uint32_t> paper_trials;  // of how many the paper's share is
  std::string reason;                    // why ours differs, if it does
};

// An experiment file: runs, each with several seeds and under one or more readings of the paper, and the
// numbers that are read off them.
struct Experiment {
  std::string name;  // of its file, without ".toml"
  std::string title;
  std::string paper;  // where the paper has it; empty: it is not of the paper
  std::string about;  // what to know when comparing
  ExperimentKind kind = ExperimentKind::kRuns;
  std::vector<double> rates;  // kRates: in log10
  std::string runs_of;        // its runs are those of this other experiment
  std::string rates_from;     // its runs have rates that the searches of this other experiment found
  bool go_on = true;  // they are the winners of the searches with their seeds, trained on; else all seeds
                      // have the rate that most searches found, and begin anew
  std::vector<std::string> readings;  // their names; a single unnamed one if the file has no readings
  std::vector<SweepPlan> plans;       // one per reading; with runs_of: empty until adopt_runs()
  std::vector<ExpectedValue> values;
};

// `change` may change the configuration of every run before it is checked. Throws Error.
Experiment parse_experiment(std::string_view text, const std::string& name,
                            const std::function<void(Config&, ExperimentKind)>& change);

// Gives an experiment with runs_of the plans of the other experiment. Throws Error if its values need a run
// that those lack.
void adopt_runs(Experiment& experiment, const Experiment& other);

// The names of a folder's experiments; empty if there is no such folder.
std::vector<std::string> experiment_names(const std::filesystem::path& folder);

// The seed of an ensemble's member, from 1 on. Different for each member, and from the seed of any run of an
// experiment with ensembles.
uint64_t member_seed(uint64_t seed, uint32_t member);

// Names a configuration by everything that decides its result, so that equal ones share a folder. Of the path
// to the data only the last folder's name counts, so that they may lie elsewhere on another machine.
std::string settings_name(const Config& config);
inline constexpr size_t kSettingsDigits = 10;  // of such a name, in hex

}  // namespace subfleet
