#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "subfleet/report/reported_run.h"

namespace subfleet {

// Runs side by side: what each needed to reach the same accuracy, and how far each came with the same bytes.
struct Comparison {
  struct Row {
    std::optional<uint64_t> bytes_to_reach;  // empty: not reached
    std::optional<double> bytes_ratio;       // of those to the first run's: 0.5 for half as many
    std::optional<double> accuracy_at;       // with `bytes` exchanged; empty: not evaluated by then
  };
  std::optional<double> accuracy;  // the target; empty if no run was evaluated
  std::optional<uint64_t> bytes;   // that all evaluated runs have exchanged; empty likewise
  std::vector<Row> rows;           // one per run
};

// Without an accuracy: the highest whole percentage that all evaluated runs reach; below 1 % the exact value.
Comparison compare_runs(std::span<const ReportedRun> runs, std::optional<double> accuracy = std::nullopt);

// "gold 0.5", "none", "-".
std::string code_name(const ReportedRun& run);

// A ratio of bytes in words: "2.34x fewer", "1.35x more", "the same"; "-" if there is none.
std::string ratio_text(std::optional<double> ratio);

// "84 %" or "84.5 %": an accuracy that was asked for.
std::string round_percent(double fraction);

// The comparison as an aligned text table, and as a JSON object
// {"accuracy": ..., "differing_settings": [...], "runs": [...], "groups": [...]}. The table has one line per
// group of runs that differ in the seed alone, with means and 95 % intervals.
std::string report_table(std::span<const ReportedRun> runs, const Comparison& comparison);
std::string report_table(std::span<const ReportedRun> runs);
std::string report_json(std::span<const ReportedRun> runs, const Comparison& comparison);

}  // namespace subfleet
