#include "subfleet/round.h"

#include <fmt/format.h>

#include <cmath>

#include "subfleet/partial_sum.h"

namespace subfleet {

std::string_view outcome_name(JobOutcome outcome) {
  switch (outcome) {
    case JobOutcome::kTrained:
      return "trained";
    case JobOutcome::kDiverged:
      return "diverged";
    case JobOutcome::kLost:
      return "lost";
    case JobOutcome::kLate:
      return "late";
    case JobOutcome::kRejected:
      break;
  }
  return "rejected";
}

std::optional<std::string> fault_in(const JobResult& result, size_t clients_of_round) {
  const uint64_t most = (PartialSum::kMostExamples - 1) / std::max<size_t>(clients_of_round, 1);
  if (result.examples > most) {
    return fmt::format("{} examples; one of {} clients can have at most {}", result.examples,
                       clients_of_round, most);
  }
  if (!(result.accuracy >= 0 && result.accuracy <= 1))
    return fmt::format("an accuracy of {} is not between 0 and 1", result.accuracy);
  if (!std::isfinite(result.loss)) return fmt::format("a loss of {} is not a number", result.loss);
  return std::nullopt;
}

}  // namespace subfleet
