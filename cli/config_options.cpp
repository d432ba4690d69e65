#include "config_options.h"

#include <fmt/format.h>

#include "base/file.h"
#include "subfleet/error.h"

namespace subfleet::cli {

void ConfigOptions::add_to(CLI::App& command) {
  command.add_option("CONFIG", file, "settings, as TOML; without it, the paper's");
  command.add_option("--set", sets, "key=value; one setting over the file's")->allow_extra_args(false);
}

void ConfigOptions::apply_sets(Config& config) const {
  for (const std::string& assignment : sets) {
    const size_t equals = assignment.find('=');
    if (equals == std::string::npos) {
      throw bad_request("--set", fmt::format("'{}' is not key=value, as in round.clients=10", assignment));
    }
    set(config, assignment.substr(0, equals), assignment.substr(equals + 1));
  }
}

Config ConfigOptions::config() const {
  Config config;
  if (!file.empty()) config = parse_config(read_file_or_pipe(file, kMostTextBytes), file);
  apply_sets(config);
  validate(config);
  return config;
}

}  // namespace subfleet::cli
