#pragma once

#include <optional>
#include <string>

#include "subfleet/config.h"
#include "subfleet/store/run_folder.h"

namespace subfleet {

// The settings of a run as its folder has them; none where it has no config.toml that this version reads.
std::optional<Config> config_of(const RunSummary& run);

// The command that trains the same run again into a folder of its name: every setting that is not the
// default, quoted for a shell.
std::string train_command(const RunSummary& run, const Config& config);

}  // namespace subfleet
