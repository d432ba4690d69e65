#pragma once

#include <optional>
#include <string>
#include <vector>

#include "subfleet/reproduce/measures.h"

namespace subfleet {

// What one reading of the paper gave for one value.
struct ReadingResult {
  std::optional<Estimate> ours;
  Verdict verdict = Verdict::kNothingToCompare;
};

// An experiment, which must outlive this object, and its results so far.
struct ExperimentResult {
  const Experiment* experiment = nullptr;
  std::vector<Measured> measured;                   // one per reading; empty for facts
  std::vector<std::vector<ReadingResult>> results;  // [value][reading]
  std::vector<std::string> trainers;                // everything that trained for it
};

ExperimentResult experiment_result(const Experiment& experiment, const Pool& pool);

// Of a reading's values: how many there are to compare, and how many agree.
struct Agreement {
  std::string reading;
  size_t compared = 0, agree = 0;
};
std::vector<Agreement> agreements(const ExperimentResult& result);

}  // namespace subfleet
