#pragma once

#include <string>

#include "subfleet/config.h"
#include "subfleet/store/run_folder.h"

namespace subfleet {

// The command that trains the same run again into a folder of the same name, quoted for a shell. It has every
// setting that differs from its default.
std::string train_command(const RunSummary& run, const Config& config);

}  // namespace subfleet
