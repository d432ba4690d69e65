#include "bash_completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "program_parts.h"
#include "subfleet/config.h"
#include "subfleet/trainer.h"

namespace subfleet::cli {
namespace {

// `path` is the command that the words before the one being typed name: " data info". Where nothing is
// offered, bash offers files.
constexpr std::string_view kScript = R"(# bash completion of subfleet
_subfleet() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} path= options= commands= i
  COMPREPLY=()
  case ${{COMP_WORDS[COMP_CWORD - 1]}} in
    --set)
      compopt -o nospace
      COMPREPLY=($(compgen -W '{settings}' -- "$word"))
      return 0 ;;
    --device)
      COMPREPLY=($(compgen -W '{devices}' -- "$word"))
      return 0 ;;
  esac
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$path ${{COMP_WORDS[i]}}" in
      {paths}) path+=" ${{COMP_WORDS[i]}}" ;;
    esac
  done
  case $path in
{cases}  esac
  if [[ $word == -* ]]; then commands=$options; fi
  COMPREPLY=($(compgen -W "$commands" -- "$word"))
}}
complete -o bashdefault -o default -F _subfleet subfleet
)";

struct Completions {
  std::vector<std::string> paths;  // of all commands, quoted
  std::string cases;
};

void collect(const CLI::App& command, const std::string& path, Completions& into) {
  std::vector<std::string> options, commands;
  for (const CLI::Option* option : visible_options(command)) {
    for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  }
  for (const CLI::App* inner : visible_commands(command)) commands.push_back(inner->get_name());
  into.cases += fmt::format("    '{}') options='{}' commands='{}' ;;\n", path, fmt::join(options, " "),
                            fmt::join(commands, " "));
  for (const CLI::App* inner : visible_commands(command)) {
    const std::string inner_path = fmt::format("{} {}", path, inner->get_name());
    into.paths.push_back(fmt::format("'{}'", inner_path));
    collect(*inner, inner_path, into);
  }
}

}  // namespace

std::string bash_completion(const CLI::App& program) {
  Completions all;
  collect(program, "", all);
  std::vector<std::string> names;
  for (const Setting& setting : settings({})) names.push_back(setting.name + "=");
  return fmt::format(kScript, fmt::arg("settings", fmt::join(names, " ")),
                     fmt::arg("devices", fmt::join(device_names(), " ")),
                     fmt::arg("paths", fmt::join(all.paths, " | ")), fmt::arg("cases", all.cases));
}

}  // namespace subfleet::cli
