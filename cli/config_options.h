#pragma once

#include <functional>
#include <string>
#include <vector>

#include "commands.h"
#include "subfleet/config.h"

namespace subfleet::cli {

// [CONFIG.toml] [--set key=value]...: how every command that trains takes its settings.
struct ConfigOptions {
  std::string file;
  std::vector<std::string> sets;

  void add_to(CLI::App& command);
  // --set alone.
  void add_set_to(CLI::App& command, const std::string& help);
  void apply_sets(Config& config) const;
  // The same, to resume with saved settings.
  std::function<void(Config&)> changes() const {
    return [this](Config& config) { apply_sets(config); };
  }
  // Completes settings that came from a file: takes a model file from beside that file, if it is there, and
  // applies --set.
  void complete(Config& config) const;
  // The file over the defaults, and --set over the file; config() also checks that they go together.
  Config unchecked() const;
  Config config() const;
};

// Every setting with the value that it has there, for --settings.
void print_settings(const Config& config);

}  // namespace subfleet::cli
