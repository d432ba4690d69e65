#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace subfleet::cli {

// A script that tells bash the program's commands, options, settings and devices.
std::string bash_completion(const CLI::App& program);

}  // namespace subfleet::cli
