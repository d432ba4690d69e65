#include "report/round_progress.h"

#include <fmt/format.h>

#include <optional>

namespace subfleet {

void RoundProgress::round_done(Run& run, const RoundRecord& record) {
  bytes_ += record.bytes_down + record.bytes_up;
  for (const JobOutcome outcome : kJobOutcomes) {
    if (outcome == JobOutcome::kTrained || record.outcomes[outcome] == 0) continue;
    progress_.note(fmt::format("round {}: {} of {} clients left out: {}", record.round,
                               record.outcomes[outcome], run.config().round.clients, outcome_name(outcome)));
  }
  const double now = watch_.seconds();
  progress_.update({.round = record.round,
                    .test_accuracy = record.test_accuracy,
                    .train_accuracy_median = record.train_accuracy_median,
                    .bytes_total = bytes_,
                    .seconds = now - shown_at_,
                    .plan = plan_ ? std::optional(plan_(now - shown_at_)) : std::nullopt});
  shown_at_ = now;
}

}  // namespace subfleet
