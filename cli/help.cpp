#include "help.h"

#include <fmt/format.h>

namespace subfleet::cli {

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  const std::string dots = " ...";
  if (option->get_positional()) return option->get_expected_max() > 1 ? dots : "";
  std::string text = CLI::Formatter::make_option_opts(option);
  if (option->get_allow_extra_args()) return text;
  if (const size_t at = text.find(dots); at != std::string::npos) text.erase(at, dots.size());
  return text;
}

std::string footer(std::string_view text, std::initializer_list<std::string_view> examples) {
  std::string all(text);
  if (!all.empty()) all += "\n\n";
  all += "Examples:";
  for (const std::string_view example : examples) all += fmt::format("\n  {}", example);
  return all;
}

std::string help_command(const CLI::App& program) {
  std::string command = program.get_name();
  for (const CLI::App* at = &program; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    command += " " + at->get_name();
  }
  return command + " --help";
}

}  // namespace subfleet::cli
