#pragma once

#include <optional>
#include <string>
#include <vector>

#include "subfleet/reproduce/experiment.h"
#include "subfleet/reproduce/pool.h"
#include "subfleet/results/statistics.h"

namespace subfleet {

// How our value compares with the paper's.
enum class Verdict {
  kNothingToCompare,  // the paper has no number, or we have no value yet
  kAgrees,            // the same, or not significantly different
  kDiffers,
};

// The measures for that kind of experiment, except kFacts.
std::vector<std::string> measure_names(ExperimentKind kind);

// The key that the value lacks for its measure in that kind of experiment; empty if it lacks none.
std::string missing_key(const ExpectedValue& value, ExperimentKind kind);

// A value over the seeds; nothing while no run is finished. Percentages are from 0 to 100.
std::optional<Estimate> measure(const ExpectedValue& value, ExperimentKind kind, const Measured& measured);

// Whether a value is the share of the trials in which something happens.
bool is_share(const ExpectedValue& value);

// A number of the paper agrees within our 95 % interval. A share, which is one of few trials in the paper as
// well (as many as here, unless it is said), agrees unless Fisher's exact test tells the two apart at 5 %.
Verdict compare(const ExpectedValue& value, const std::optional<Estimate>& ours);

}  // namespace subfleet
