#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reproduce/experiment.h"
#include "reproduce/pool.h"
#include "sweep/statistics.h"

namespace subfleet {

// How ours stands to what the paper says.
enum class Verdict {
  kNothingToCompare,  // the paper has no number, or we have none yet
  kAgrees,            // the paper's number lies within our interval, or ours is the same
  kDiffers,
};

// The measures of that kind of experiment, but kFacts.
std::vector<std::string> measure_names(ExperimentKind kind);

// A value over the seeds; none while nothing is finished. Percentages are from 0 to 100.
std::optional<Estimate> measure(const ExpectedValue& value, ExperimentKind kind, const Measured& measured);

Verdict compare(const Claim& claim, const std::optional<Estimate>& ours);

}  // namespace subfleet
