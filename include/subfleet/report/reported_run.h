#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "subfleet/config.h"
#include "subfleet/store/run_folder.h"

namespace subfleet {

// A run as reports show it: what its folder says, and its settings as people read them.
struct ReportedRun : RunSummary {
  // Every setting that config.toml names, by its dotted key ("code.layers.conv2.keep"); and what decides as
  // much without being one: the hashes of its model file and of its data, --init and --device.
  std::map<std::string, std::string> settings;

  std::optional<Config> parsed_config;  // config.toml, if this version knows all its settings

  // Settings worth a column; empty where config.toml does not say.
  std::string model, family, optimizer;
  std::optional<double> keep, server_lr;
  std::optional<int64_t> clients;
  std::optional<uint64_t> seed;
};

// Throws Error if the run's config.toml is no TOML, or its model file cannot be read.
ReportedRun reported_run(RunSummary run);

// Of run folders, as load_runs reads them.
std::vector<ReportedRun> reported_runs(std::span<const std::filesystem::path> folders);

}  // namespace subfleet
