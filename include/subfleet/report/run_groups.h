#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "subfleet/report/reported_run.h"
#include "subfleet/report/table.h"
#include "subfleet/results/statistics.h"

namespace subfleet {

// Runs that differ in their seed alone: one line of a chart, one row of a table.
struct RunGroup {
  std::string name;             // what the names of its runs share; a single run's own
  std::vector<size_t> members;  // of the runs that were grouped, in their order
};

// In the order of their first runs. A run whose settings are not known, or whose seed a group has already, is
// not added to it.
std::vector<RunGroup> group_by_seed(std::span<const ReportedRun> runs);

// One run per group, with the group's name and settings; a group of several seeds names them all.
std::vector<ReportedRun> representatives(std::span<const ReportedRun> runs, std::span<const RunGroup> groups);

// The figures of a group: means over its seeds without those that diverged, unless all did.
struct GroupFigures {
  size_t seeds = 0, diverged = 0;
  std::optional<Estimate> final, best;  // test accuracies; empty if never tested
  Estimate bytes_down, bytes_up, search_bytes, bytes_total;
  size_t reached = 0;                      // seeds that reached Comparison::accuracy
  std::optional<Estimate> bytes_to_reach;  // over those seeds
  std::optional<double> bytes_ratio;       // of its mean to the first group's
  std::optional<Estimate> accuracy_at;     // with Comparison::bytes exchanged
};
std::vector<GroupFigures> group_figures(std::span<const ReportedRun> runs, std::span<const RunGroup> groups,
                                        const Comparison& comparison);

// The runs of a group that its means are over.
std::vector<const ReportedRun*> counted_runs(std::span<const ReportedRun> runs, const RunGroup& group);

// "84.1 %", of several seeds "84.1 ± 0.3 %"; "1.85 GB", "1.85 GB ± 20 MB"; "-" if there is none.
std::string seeds_text(const GroupFigures& figures);    // "3", "3 (1 diverged)"
std::string reached_text(const GroupFigures& figures);  // the bytes; of some seeds "1.85 GB (2 of 3)"
std::string percent_text(const std::optional<Estimate>& estimate);
std::string bytes_text(const std::optional<Estimate>& estimate);

}  // namespace subfleet
