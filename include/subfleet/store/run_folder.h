#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "subfleet/config.h"
#include "subfleet/store/provenance.h"
#include "subfleet/store/round_log.h"

namespace subfleet {

// What a run folder says about its run.
struct RunSummary {
  std::string name;
  std::filesystem::path folder;                        // with links followed
  std::string config;                                  // config.toml as it stands; empty if there is none
  std::optional<Config> parsed_config = std::nullopt;  // the same, if this version knows all its settings
  std::vector<RoundRecord> rounds;
  uint64_t search_bytes = 0;  // exchanged by the other candidates of the search that it won (tune.json)

  std::optional<Provenance> provenance = std::nullopt;  // if there is a provenance.json

  // Every setting that config.toml names, by its dotted key ("code.layers.conv2.keep"), as people read it.
  std::map<std::string, std::string> settings;

  // Settings worth a column; empty where config.toml does not say.
  std::string model, family, optimizer;
  std::optional<double> keep, server_lr;
  std::optional<int64_t> clients;
  std::optional<uint64_t> seed;
};

// Reads DIR/rounds.jsonl and DIR/config.toml, of which one may be missing (a run that has just begun), and
// DIR/tune.json if a search led to the run. The name is the folder's, on one line. Throws Error if it is no
// run folder, if it is a search's whose best candidate was not trained on, or if a file in it cannot be read.
RunSummary load_run(const std::filesystem::path& folder);

// What a search exchanged, out of the text of a tune.json; `name` is for the errors.
uint64_t parse_search_bytes(std::string_view text, std::string_view name);

// Several runs. Folders of the same name are told apart by as much of their path as that takes; the same
// folder twice is an Error.
std::vector<RunSummary> load_runs(std::span<const std::filesystem::path> folders);

}  // namespace subfleet
