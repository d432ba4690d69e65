#pragma once

#include <string>

namespace subfleet::cli {

// The folder of experiments: the current folder's or, if it has none, the installed one.
std::string default_experiments();

}  // namespace subfleet::cli
