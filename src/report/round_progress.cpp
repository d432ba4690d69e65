#include "report/round_progress.h"

#include <fmt/format.h>

namespace subfleet {

void note_left_out(Progress& progress, const Run& run, const RoundRecord& record, const std::string& name) {
  for (const JobOutcome outcome : kJobOutcomes) {
    if (outcome == JobOutcome::kTrained || record.outcomes[outcome] == 0) continue;
    progress.note(fmt::format("{}{}round {}: {} of {} clients left out: {}", name, name.empty() ? "" : ", ",
                              record.round, record.outcomes[outcome], run.config().round.clients,
                              outcome_name(outcome)));
  }
}

void RoundProgress::round_done(Run& run, const RoundRecord& record) {
  bytes_ += record.bytes_down + record.bytes_up;
  note_left_out(progress_, run, record);
  const double now = watch_.seconds();
  progress_.update({.round = record.round,
                    .test_accuracy = record.test_accuracy,
                    .train_accuracy_median = record.train_accuracy_median,
                    .bytes_total = bytes_,
                    .seconds = now - shown_at_});
  shown_at_ = now;
}

}  // namespace subfleet
