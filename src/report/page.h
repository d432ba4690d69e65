#pragma once

#include <span>
#include <string>

#include "report/chart.h"
#include "report/table.h"
#include "store/run_folder.h"

namespace subfleet {

// The curves of the report, one line per run.
Chart accuracy_over_rounds(std::span<const RunSummary> runs);
Chart accuracy_over_bytes(std::span<const RunSummary> runs);  // log scale where the runs differ much in bytes
Chart training_accuracy_over_rounds(std::span<const RunSummary> runs);
Chart training_loss_over_rounds(std::span<const RunSummary> runs);

// One HTML page that needs nothing else: the table, the curves and each run's config. Follows the reader's
// light or dark setting. Runs without rounds are shown as such.
std::string report_page(std::span<const RunSummary> runs, const Comparison& comparison);
std::string report_page(std::span<const RunSummary> runs);

}  // namespace subfleet
