#include "config_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "subfleet/base/file.h"
#include "subfleet/error.h"
#include "subfleet/work/model_path.h"

namespace subfleet::cli {

void ConfigOptions::add_to(CLI::App& command) {
  command.add_option("CONFIG", file, "settings, as TOML; without it, the paper's");
  add_set_to(command, "one setting over the file's; may be given again");
}

void ConfigOptions::add_set_to(CLI::App& command, const std::string& help) {
  command.add_option("--set", sets, help)->allow_extra_args(false)->type_name("KEY=VALUE");
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

void ConfigOptions::complete(Config& config) const {
  prefer_model_in(std::filesystem::path(file).parent_path(), config);
  apply_sets(config);
}

Config ConfigOptions::unchecked() const {
  Config config;
  if (!file.empty()) config = parse_config(read_file_or_pipe(file, kMostTextBytes), file);
  complete(config);
  return config;
}

Config ConfigOptions::config() const {
  Config config = unchecked();
  validate(config);
  return config;
}

void print_settings(const Config& config) {
  size_t widest_name = 0, widest_value = 0;
  std::vector<Setting> all = settings(config);
  all.push_back({"code.layers.LAYER.family", "", "of one droppable layer alone"});
  all.push_back({"code.layers.LAYER.keep", "", "of one droppable layer alone"});
  for (const Setting& s : all) {
    widest_name = std::max(widest_name, s.name.size());
    widest_value = std::max(widest_value, s.value.size());
  }
  for (const Setting& s : all)
    fmt::print("{:<{}}  {:<{}}  {}\n", s.name, widest_name, s.value, widest_value, s.help);
}

}  // namespace subfleet::cli
