#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <string>
#include <string_view>

namespace subfleet::cli {

// Options and arguments as all helps show them: "--set KEY=VALUE", and "..." only where several can follow.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override;
};

// The end of a command's help: what else is to know of it, if anything, and command lines to start from.
std::string footer(std::string_view text, std::initializer_list<std::string_view> examples);

// "subfleet data info --help": the help of the command at which parsing stopped.
std::string help_command(const CLI::App& program);

}  // namespace subfleet::cli
