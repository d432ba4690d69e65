#pragma once

#include <optional>
#include <string>

#include "subfleet/config.h"
#include "subfleet/store/run_folder.h"

namespace subfleet {

// The settings in a run's folder; nothing if it has no config.toml that this version can read.
std::optional<Config> config_of(const RunSummary& run);

// The command that trains the same run again into a folder of the same name, quoted for a shell. It has every
// setting that differs from its default.
std::string train_command(const RunSummary& run, const Config& config);

}  // namespace subfleet
