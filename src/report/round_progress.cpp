#include "subfleet/report/round_progress.h"

#include <fmt/format.h>

namespace subfleet {

std::vector<std::string> left_out_lines(const Run& run, const RoundRecord& record, const std::string& name) {
  std::vector<std::string> lines;
  for (const JobOutcome outcome : kJobOutcomes) {
    if (outcome == JobOutcome::kTrained || record.outcomes[outcome] == 0) continue;
    lines.push_back(fmt::format("{}{}round {}: {} of {} clients left out: {}", name, name.empty() ? "" : ", ",
                                record.round, record.outcomes[outcome], run.config().round.clients,
                                outcome_name(outcome)));
  }
  return lines;
}

void RoundProgress::round_done(Run& run, const RoundRecord& record) {
  bytes_ += record.bytes_down + record.bytes_up;
  for (const std::string& line : left_out_lines(run, record)) progress_.note(line);
  const double now = watch_.seconds();
  progress_.update({.round = record.round,
                    .test_accuracy = record.test_accuracy,
                    .train_accuracy_median = record.train_accuracy_median,
                    .bytes_total = bytes_,
                    .seconds = now - shown_at_});
  shown_at_ = now;
}

}  // namespace subfleet
