#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "subfleet/store/folder_lock.h"
#include "subfleet/sweep/results.h"

namespace subfleet {

// The folder of a sweep: a run folder for every run and seed, and what came of them: results.json, results.md
// and a chart. Locked while this object lives.
class SweepFolder {
 public:
  // The program that shows the sweep writes these.
  static constexpr auto kResults = "results.json", kTable = "results.md", kChart = "accuracy-over-bytes.svg";

  // Makes the folder if needed.
  explicit SweepFolder(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  FolderLock lock_;
};

// Gives the runs that have begun with some seed the horizon with which they began, for the other seeds too,
// where the plan leaves it open: an extended sweep compares runs of one schedule.
void keep_horizons(const std::filesystem::path& folder, SweepPlan& plan);

// Throws Error if the folder, which need not be there, holds something else than this sweep: a run, or runs
// of these names with other settings, naming the first that differs.
void check_sweep_folder(const std::filesystem::path& folder, const SweepPlan& plan);

// The rounds of every run and seed that is over: trained to its last round, or diverged.
std::vector<std::vector<RoundLog>> finished_logs(const std::filesystem::path& folder, const SweepPlan& plan);
RoundLog finished_log(const std::filesystem::path& run_folder, uint32_t rounds);

// "subfleet 0.1.0 on cuda": of all sessions of a run folder, if there is one.
void add_trainers(const std::filesystem::path& run_folder, std::set<std::string>& trainers);

// Everything that trained runs of this plan's folders, without repeats.
std::vector<std::string> trainers_of(const std::filesystem::path& folder, const SweepPlan& plan);

}  // namespace subfleet
