#include "subfleet/work/sweep_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "report/sweep_chart.h"
#include "subfleet/base/file.h"
#include "subfleet/error.h"
#include "subfleet/report/sweep_report.h"
#include "subfleet/trainer.h"

namespace subfleet {

SweepPlan read_sweep(const std::filesystem::path& file, const std::function<void(Config&)>& change) {
  SweepPlan plan = parse_sweep(read_file_or_pipe(file, kMostTextBytes), file.string(), change);
  for (const SweepRun& run : plan.runs) {
    if (run.members == 1) continue;
    throw bad_request(file.string(),
                      fmt::format("run '{}': members: a sweep has no ensembles; 'subfleet reproduce' makes "
                                  "them of files in experiments/beyond",
                                  run.name));
  }
  return plan;
}

std::vector<SweepTrial> choose_trials(const SweepPlan& plan, const std::vector<std::string>& name_parts,
                                      size_t seeds) {
  const auto wanted = [&](const SweepRun& run) {
    return name_parts.empty() || std::ranges::any_of(name_parts, [&](const std::string& part) {
             return run.name.find(part) != std::string::npos;
           });
  };
  std::map<std::string, size_t> order;  // of the data, as the file first asks for them
  std::vector<size_t> data;             // which of them each run has
  for (const SweepRun& run : plan.runs)
    data.push_back(wanted(run) ? order.emplace(data_settings(run.config), order.size()).first->second : 0);
  std::vector<SweepTrial> trials;
  for (size_t seed = 0; seed < (seeds == 0 ? plan.seeds.size() : seeds); ++seed) {
    for (size_t run = 0; run < plan.runs.size(); ++run) {
      if (wanted(plan.runs[run])) trials.push_back({run, seed});
    }
  }
  std::ranges::stable_sort(trials, {}, [&](const SweepTrial& trial) { return data[trial.run]; });
  return trials;
}

SweepSession::SweepSession(const SweepPlan& plan, const std::filesystem::path& folder, const Options& options)
    : plan_(plan),
      together_(options.together),
      fleets_(options.device, options.threads),
      folder_(folder),
      logs_(finished_logs(folder, plan)),
      clock_(plan.runs.size()) {}

size_t SweepSession::prepare(std::vector<SweepTrial> trials) {
  trials_ = std::move(trials);
  std::erase_if(trials_,
                [this](const SweepTrial& trial) { return logs_[trial.run][trial.seed].has_value(); });
  if (trials_.empty()) return 0;
  awake_ = std::async(std::launch::async, wake_device, fleets_.device());
  check_data();
  set_clock();
  return trials_.size();
}

// Checks all data before the first run starts, so that errors show at once.
void SweepSession::check_data() {
  for (const SweepTrial& trial : trials_) {
    try {
      fleets_.check(config_of(trial));
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("run '{}': {}", plan_.runs[trial.run].name, error.what()));
    }
  }
}

void SweepSession::set_clock() {
  for (size_t run = 0; run < logs_.size(); ++run) {
    for (const RoundLog& log : logs_[run]) {
      double seconds = 0;
      for (const RoundRecord& record : log.value_or(std::vector<RoundRecord>{})) seconds += record.seconds;
      if (log) clock_.learn(run, log->back().round, seconds);
    }
  }
  for (const SweepTrial& trial : trials_) clock_.expect(trial.run, plan_.runs[trial.run].config.run.rounds);
}

bool SweepSession::train(GroupObserver& observer, const std::function<bool()>& stop) {
  const size_t all = trials_.size();
  while (!trials_.empty()) {
    const size_t done = all - trials_.size();
    const auto group = take_group(trials_, together_, [](const SweepTrial& trial) { return trial.run; });
    if (!train(group, done, all, {fleets_, clock_, observer, stop})) return false;
    write_results();
  }
  return true;
}

// One run with several seeds, after `done` of `all`; false if it was stopped before its end.
bool SweepSession::train(const std::vector<SweepTrial>& group, size_t done, size_t all,
                         const PlanContext& context) {
  const std::string& name = plan_.runs[group.front().run].name;
  std::vector<PlannedRun> runs;
  std::vector<uint64_t> seeds;
  for (const SweepTrial& trial : group) {
    const Config config = config_of(trial);
    runs.push_back({.config = config,
                    .path = folder_.path() / plan_.folder(trial.run, config.run.seed),
                    .name = fmt::format("run '{}', seed {}", name, config.run.seed),
                    .number = trial.run});
    seeds.push_back(config.run.seed);
  }
  if (!train_group(runs, group_title(done, all, name, seeds), context)) return false;
  for (size_t i = 0; i < group.size(); ++i)
    logs_[group[i].run][group[i].seed] = finished_log(runs[i].path, runs[i].config.run.rounds);
  return true;
}

SweepResults SweepSession::results() const {
  SweepResults all = sweep_results(plan_, logs_);
  all.trainers = trainers_of(folder_.path(), plan_);
  return all;
}

void SweepSession::write_results() const {
  const SweepResults all = results();
  write_file(folder_.path() / SweepFolder::kResults, sweep_json(all));
  write_file(folder_.path() / SweepFolder::kTable, sweep_markdown(all));
  write_file(folder_.path() / SweepFolder::kChart, sweep_svg(all));
}

}  // namespace subfleet
