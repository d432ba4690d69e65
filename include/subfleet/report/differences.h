#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "subfleet/report/reported_run.h"

namespace subfleet {

// The settings in which runs differ, to tell apart runs that look equal in a table.
struct SettingDifferences {
  std::vector<std::string> keys;
  std::vector<std::vector<std::optional<std::string>>>
      values;  // [run][key]; empty if its config.toml does not say
};

// Whether a setting decides how a model learns: not where the data lie, when a checkpoint is written, what a
// search looks for.
bool decides_learning(const std::string& key);

// Settings that do not decide how a model learns count only if no other setting differs. A run without a
// config.toml differs in nothing.
SettingDifferences differing_settings(std::span<const ReportedRun> runs);

// As text tables of at most `width` columns, where one setting at least fits into that, one below the other
// and a line per run in each; a sentence if no setting differs; nothing for a single run.
std::string differences_table(std::span<const ReportedRun> runs, size_t width);

}  // namespace subfleet
