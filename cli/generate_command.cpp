#include <fmt/format.h>

#include "bash_completion.h"
#include "commands.h"
#include "man_page.h"

namespace subfleet::cli {

void add_generate_command(CLI::App& program) {
  CLI::App* command = program.add_subcommand("generate", "Print what the installed program comes with");
  command->group("");  // for the build; users find the results installed
  command->require_subcommand(1);
  command->add_subcommand("man", "Print the manual page, as roff")->callback([&program] {
    fmt::print("{}", man_page(program));
  });
  command->add_subcommand("completion", "Print a script for bash that completes commands and options")
      ->callback([&program] { fmt::print("{}", bash_completion(program)); });
}

}  // namespace subfleet::cli
