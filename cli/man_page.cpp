#include "man_page.h"

#include <fmt/format.h>

#include <string_view>

#include "help.h"
#include "program_parts.h"
#include "subfleet/base/version.h"
#include "subfleet/config.h"

namespace subfleet::cli {
namespace {

// Text as roff prints it: a line's first character is never a command, and '-' is what a shell understands.
std::string roff(std::string_view text) {
  std::string written;
  bool starts_line = true;
  for (const char c : text) {
    if (starts_line && (c == '.' || c == '\'')) written += "\\&";
    if (c == '-') {
      written += "\\-";
    } else if (c == '\\') {
      written += "\\e";
    } else {
      written += c;
    }
    starts_line = c == '\n';
  }
  return written;
}

std::string bold(std::string_view text) { return fmt::format("\\fB{}\\fR", roff(text)); }

// One option with what it takes and does.
std::string option_entry(const CLI::Option& option) {
  const HelpFormatter formatter;
  std::string name = option.nonpositional() ? option.get_name(false, true) : option.get_name(true);
  std::string takes = formatter.make_option_opts(&option);
  return fmt::format(".TP\n{}{}\n{}\n", bold(name), roff(takes), roff(option.get_description()));
}

std::string command_section(const CLI::App& command, const std::string& before) {
  const std::string name = fmt::format("{} {}", before, command.get_name());
  std::string text = fmt::format(".SS {}\n{}\n", roff(name), roff(command.get_description()));
  for (const CLI::Option* option : visible_options(command)) {
    if (option != command.get_help_ptr()) text += option_entry(*option);
  }
  // Its lines stay as they are: some are examples.
  if (const std::string footer = command.get_footer(); !footer.empty())
    text += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(footer));
  for (const CLI::App* inner : visible_commands(command)) text += command_section(*inner, name);
  return text;
}

std::string settings_section() {
  std::string text = ".SH SETTINGS\nThose of a settings file, or of\n.BR \\-\\-set ,\nwith their defaults.\n";
  for (const Setting& setting : settings({})) {
    text += fmt::format(".TP\n{} = {}\n{}\n", bold(setting.name), roff(setting.value), roff(setting.help));
  }
  return text;
}

}  // namespace

std::string man_page(const CLI::App& program) {
  std::string what = program.get_description();
  if (constexpr std::string_view kName = "Subfleet: "; what.starts_with(kName)) what.erase(0, kName.size());
  std::string text = fmt::format(
      ".TH SUBFLEET 1 \"\" \"subfleet {}\" \"User Commands\"\n"
      ".SH NAME\nsubfleet \\- {}\n"
      ".SH SYNOPSIS\n.B subfleet\n.I COMMAND\n[\\fIOPTIONS\\fR]\n.PP\n.B subfleet\n.I COMMAND\n.B "
      "\\-\\-help\n"
      ".SH OPTIONS\n",
      version(), roff(what));
  for (const CLI::Option* option : visible_options(program)) text += option_entry(*option);
  text += ".SH COMMANDS\n";
  for (const CLI::App* command : visible_commands(program)) text += command_section(*command, "subfleet");
  text += settings_section();
  text +=
      ".SH EXIT STATUS\n.TP\n.B 0\nAll went well.\n.TP\n.B 1\nThe work failed.\n.TP\n.B 2\n"
      "The request was wrong: an option, a setting or a file.\n.TP\n.B 130\nStopped by Ctrl\\-C.\n";
  return text;
}

}  // namespace subfleet::cli
