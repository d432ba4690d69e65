#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/provenance.h"
#include "store/round_log.h"

namespace subfleet {

// What a run folder says about its run.
struct RunSummary {
  std::string name;
  std::filesystem::path folder;  // with links followed
  std::string config;            // config.toml as it stands; empty if there is none
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

// Test accuracy of the last evaluated round, and the highest of all; none if no round was evaluated.
std::optional<double> final_accuracy(const RunSummary& run);
std::optional<double> best_accuracy(const RunSummary& run);

uint64_t bytes_down(const RunSummary& run);
uint64_t bytes_up(const RunSummary& run);
uint64_t bytes_total(const RunSummary& run);  // both ways, and the search before it

// The bytes exchanged, both ways and in the search, up to and including the first round whose test accuracy
// is at least `accuracy`. Not interpolated: these bytes were spent before a test showed the accuracy.
std::optional<uint64_t> bytes_to_reach(const RunSummary& run, double accuracy);

// The test accuracy that the run had when it had exchanged so many bytes, both ways and in the search: on the
// straight line between the tests before and after, as charts draw it; after the last test, what that found;
// none before the first.
std::optional<double> accuracy_at(const RunSummary& run, uint64_t bytes);

// The most bytes that every evaluated run has exchanged by its last test; none if there is none.
std::optional<uint64_t> common_bytes(std::span<const RunSummary> runs);

// The highest whole percentage that every evaluated run reaches (below 1 %: the exact value); none if there
// is none.
std::optional<double> common_accuracy(std::span<const RunSummary> runs);

}  // namespace subfleet
