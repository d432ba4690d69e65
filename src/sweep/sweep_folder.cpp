#include "subfleet/sweep/sweep_folder.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "subfleet/base/file.h"
#include "subfleet/error.h"
#include "subfleet/model.h"
#include "subfleet/store/run_writer.h"
#include "subfleet/store/saved_config.h"
#include "subfleet/store/session.h"

namespace subfleet {
namespace {

namespace fs = std::filesystem;

fs::path made(const fs::path& folder) {
  make_folder(folder);
  return folder;
}

// What decides a run's figures: what cannot change in a run, and how it is tested.
FixedSettings deciding_settings(const Config& config) {
  FixedSettings all = fixed_settings(config);
  all["run.eval_every"] = fmt::format("{}", config.run.eval_every);
  all["run.eval_samples"] = fmt::format("{}", config.run.eval_samples);
  return all;
}

void check_run(const fs::path& folder, const Config& planned) {
  const Config saved = RunWriter::config(folder), config = going_on(planned, saved);
  auto name = first_difference(deciding_settings(saved), deciding_settings(config));
  if (!name && !(resolve_model(saved.model) == resolve_model(config.model))) name = "model.file";
  if (!name && saved.run.rounds > config.run.rounds) name = "run.rounds";
  if (name) {
    throw bad_request(
        folder.string(),
        fmt::format("was begun with another {} than the sweep's now; choose another --out", *name));
  }
}

}  // namespace

SweepFolder::SweepFolder(const fs::path& path) : path_(made(path)), lock_(path_) {
  constexpr std::array<std::string_view, 3> kFiles{kResults, kTable, kChart};
  remove_half_written(path_, kFiles);
}

void keep_horizons(const fs::path& folder, SweepPlan& plan) {
  for (size_t run = 0; run < plan.runs.size(); ++run) {
    for (const uint64_t seed : plan.seeds) {
      const fs::path path = folder / plan.folder(run, seed);
      if (RunWriter::has_begun(path))
        plan.runs[run].config = going_on(plan.runs[run].config, RunWriter::config(path));
    }
  }
}

void check_sweep_folder(const fs::path& folder, const SweepPlan& plan) {
  if (RunWriter::has_begun(folder))
    throw bad_request(folder.string(), "holds a run, not a sweep; choose another --out");
  for (size_t run = 0; run < plan.runs.size(); ++run) {
    for (const uint64_t seed : plan.seeds) {
      const fs::path path = folder / plan.folder(run, seed);
      if (RunWriter::has_begun(path)) check_run(path, plan.config(run, seed));
    }
  }
}

RoundLog finished_log(const fs::path& run_folder, uint32_t rounds) {
  if (!RunWriter::has_begun(run_folder)) return std::nullopt;
  std::vector<RoundRecord> log = RunWriter::log(run_folder);
  if (log.empty()) return std::nullopt;
  const bool trained = log.back().round == rounds && RunWriter::model_round(run_folder) == rounds;
  return trained || is_diverged(log.back()) ? RoundLog(std::move(log)) : std::nullopt;
}

std::vector<std::vector<RoundLog>> finished_logs(const fs::path& folder, const SweepPlan& plan) {
  std::vector<std::vector<RoundLog>> logs(plan.runs.size());
  for (size_t run = 0; run < plan.runs.size(); ++run) {
    for (const uint64_t seed : plan.seeds) {
      logs[run].push_back(finished_log(folder / plan.folder(run, seed), plan.runs[run].config.run.rounds));
    }
  }
  return logs;
}

void add_trainers(const fs::path& run_folder, std::set<std::string>& trainers) {
  if (!RunWriter::has_begun(run_folder)) return;
  for (const Provenance::Session& session : RunWriter::provenance(run_folder).sessions)
    trainers.insert(trainer_text(session));
}

std::vector<std::string> trainers_of(const fs::path& folder, const SweepPlan& plan) {
  std::set<std::string> trainers;
  for (size_t run = 0; run < plan.runs.size(); ++run) {
    for (const uint64_t seed : plan.seeds) add_trainers(folder / plan.folder(run, seed), trainers);
  }
  return {trainers.begin(), trainers.end()};
}

}  // namespace subfleet
