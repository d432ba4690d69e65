#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace subfleet::cli {

// The manual page of the program in roff: its commands, their options and every setting.
std::string man_page(const CLI::App& program);

}  // namespace subfleet::cli
