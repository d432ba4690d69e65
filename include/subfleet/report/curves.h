#pragma once

#include <span>
#include <vector>

#include "subfleet/charts/chart.h"
#include "subfleet/report/reported_run.h"
#include "subfleet/report/run_groups.h"

namespace subfleet {

// The curves of the report: one line per group of runs, the mean over the seeds that have come so far; the
// lowest and the highest seed are a band around it.
Chart accuracy_over_rounds(std::span<const ReportedRun> runs);
// On a log scale; of runs that end nearly alike, the ends.
Chart accuracy_over_bytes(std::span<const ReportedRun> runs);
Chart test_loss_over_rounds(std::span<const ReportedRun> runs);
Chart training_accuracy_over_rounds(std::span<const ReportedRun> runs);
Chart training_loss_over_rounds(std::span<const ReportedRun> runs);

// Of runs whose schedule changes it.
Chart server_rate_over_rounds(std::span<const ReportedRun> runs);
Chart client_rate_over_rounds(std::span<const ReportedRun> runs);

// Where y begins in a chart of the ends of accuracy curves: at the whole ten percent below three quarters of
// the best.
double lowest_shown(double best_accuracy);

// How the clients of a round differ: the median, with the middle half of them as a band; for a single group
// the lowest and the highest client as well.
Chart client_accuracies_over_rounds(std::span<const ReportedRun> runs);

}  // namespace subfleet
