#pragma once

#include <string>

namespace subfleet::cli {

// The folder of experiments: that of the current folder or, if it has none, the one installed with the
// program.
std::string default_experiments();

}  // namespace subfleet::cli
