#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "subfleet/report/reported_run.h"
#include "subfleet/report/table.h"

namespace subfleet {

enum class Reload { kNo, kYes };  // whether a browser reloads the page every few seconds

// One HTML page that needs no other file: the table, the curves, what travels, the code books, and for each
// run its command and settings. Follows the reader's light or dark setting, and prints. Runs without rounds
// are marked.
std::string report_page(std::span<const ReportedRun> runs, const Comparison& comparison,
                        Reload reload = Reload::kNo);
std::string report_page(std::span<const ReportedRun> runs);

// The page of one run, in its folder (RunWriter::kPage).
void write_run_page(const std::filesystem::path& folder);

}  // namespace subfleet
