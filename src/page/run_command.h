#pragma once

#include <string>

#include "subfleet/config.h"
#include "subfleet/store/run_folder.h"

namespace subfleet {

// The command that trains the same run again into a folder of its name: every setting that is not the
// default, quoted for a shell.
std::string train_command(const RunSummary& run, const Config& config);

}  // namespace subfleet
