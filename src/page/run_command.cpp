#include "page/run_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "subfleet/base/text.h"

namespace subfleet {
namespace {

bool is_letter(char letter) { return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z'); }

// Characters that have no special meaning in any shell.
bool is_plain(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char letter) {
    return is_letter(letter) || (letter >= '0' && letter <= '9') ||
           std::string_view("_-+./=,:@%").find(letter) != std::string_view::npos;
  });
}

std::string shell_word(const std::string& text) {
  if (is_plain(text)) return text;
  std::string quoted = "'";
  for (const char letter : text) quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return quoted + "'";
}

// Leaves the quotes off a TOML text if `--set` understands it without them.
std::string bare_value(const std::string& toml) {
  const bool quoted = toml.size() > 2 && toml.front() == '\'' && toml.back() == '\'';
  if (!quoted) return toml;
  const std::string inner = toml.substr(1, toml.size() - 2);
  constexpr std::string_view kWords[] = {"true", "false", "inf", "nan"};
  const bool bare =
      is_letter(inner.front()) && is_plain(inner) && std::ranges::find(kWords, inner) == std::end(kWords);
  return bare ? inner : toml;
}

}  // namespace

std::string train_command(const RunSummary& run, const Config& config) {
  std::map<std::string, std::string> usual;
  for (const Setting& setting : settings(Config())) usual.emplace(setting.name, setting.value);
  std::string command = "subfleet train";
  for (const Setting& setting : settings(config)) {
    const auto found = usual.find(setting.name);
    if ((found != usual.end() && found->second == setting.value) || setting.name.starts_with("tune."))
      continue;
    command += " --set " + shell_word(setting.name + "=" + bare_value(setting.value));
  }
  if (run.provenance && run.provenance->initial)
    command += " --init " + shell_word(run.provenance->initial->file);
  if (run.provenance && !run.provenance->sessions.empty())
    command += " --device " + shell_word(run.provenance->sessions.back().device);
  return one_line(command + " --out " + shell_word("runs/" + run.folder.filename().string()));
}

}  // namespace subfleet
