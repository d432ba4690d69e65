#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "subfleet/report/reported_run.h"
#include "subfleet/report/run_groups.h"
#include "subfleet/report/table.h"

// The parts of a report's page, each as HTML; page.cpp puts them together.
namespace subfleet {

// What the page shows: the runs, their groups and how they compare. Elements with data-s="N" belong to group
// N; the page's script shows and hides them everywhere at once.
struct PageRuns {
  std::span<const ReportedRun> runs;
  const Comparison& comparison;
  std::vector<RunGroup> groups = group_by_seed(runs);
  std::vector<GroupFigures> figures = group_figures(runs, groups, comparison);

  const ReportedRun& first_of(size_t group) const { return runs[groups[group].members.front()]; }
};

std::string_view page_style();
std::string_view page_script();

std::string runs_table(const PageRuns& shown);
std::string differences_part(const PageRuns& shown);  // empty for a single group
std::string charts_part(const PageRuns& shown);
std::string searches_part(const PageRuns& shown);  // empty if no run came from a search
std::string bytes_part(const PageRuns& shown);     // what travels, by layer; empty if not known
std::string books_part(const PageRuns& shown);     // empty if nothing is dropped
std::string settings_part(const PageRuns& shown);  // and the command of each run

}  // namespace subfleet
