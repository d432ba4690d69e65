#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/round_log.h"

namespace subfleet {

// What a run folder says about its run.
struct RunSummary {
  std::string name;
  std::string config;  // config.toml as it stands; empty if there is none
  std::vector<RoundRecord> rounds;

  // Settings worth a column; empty where config.toml does not say.
  std::string model, family, optimizer;
  std::optional<double> keep, server_lr;
  std::optional<int64_t> clients, seed;
};

// Reads DIR/rounds.jsonl and DIR/config.toml; one of them may be missing (a run that has just begun). The
// name is the folder's. Throws Error if it is no run folder, or if a file in it cannot be read.
RunSummary load_run(const std::filesystem::path& folder);

// Several runs. Folders of the same name are told apart by as much of their path as that takes; the same
// folder twice is an Error.
std::vector<RunSummary> load_runs(std::span<const std::filesystem::path> folders);

// Test accuracy of the last evaluated round, and the highest of all; none if no round was evaluated.
std::optional<double> final_accuracy(const RunSummary& run);
std::optional<double> best_accuracy(const RunSummary& run);

uint64_t bytes_down(const RunSummary& run);
uint64_t bytes_up(const RunSummary& run);
uint64_t bytes_total(const RunSummary& run);

// The bytes exchanged, both ways, up to and including the first round whose test accuracy is at least
// `accuracy`.
std::optional<uint64_t> bytes_to_reach(const RunSummary& run, double accuracy);

// The highest whole percentage that every evaluated run reaches (below 1 %: the exact value); none if there
// is none.
std::optional<double> common_accuracy(std::span<const RunSummary> runs);

}  // namespace subfleet
