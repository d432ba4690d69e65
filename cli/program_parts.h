#pragma once

#include <CLI/CLI.hpp>
#include <vector>

// What a command line consists of, without what is hidden from the help.
namespace subfleet::cli {

inline std::vector<const CLI::App*> visible_commands(const CLI::App& of) {
  return of.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

inline std::vector<const CLI::Option*> visible_options(const CLI::App& of) {
  return of.get_options([](const CLI::Option* option) { return !option->get_group().empty(); });
}

}  // namespace subfleet::cli
