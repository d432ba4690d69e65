#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "checks.h"
#include "commands.h"
#include "config_options.h"
#include "device_options.h"
#include "group_progress.h"
#include "interrupt.h"
#include "report/sweep_chart.h"
#include "report/sweep_report.h"
#include "subfleet/error.h"
#include "subfleet/trainer.h"
#include "sweep/plan.h"
#include "sweep/results.h"
#include "sweep/sweep_folder.h"
#include "together.h"
#include "work/run_group.h"

namespace subfleet::cli {
namespace {

namespace fs = std::filesystem;

struct SweepOptions {
  ConfigOptions config;
  std::string out;
  std::vector<std::string> only;
  size_t seeds = 0;  // 0: all
  DeviceOptions device;
  TogetherOption together;
  size_t threads = 0;
  bool list = false;
  bool quiet = false;
};

// A run with one seed.
struct Trial {
  size_t run = 0, seed = 0;  // as numbers of the plan
  std::string data;          // the settings of its data and tests: equal for those that share a fleet
};

// What this call is to train, whether it is done or not: the runs with the same data one after the other, and
// of those every run with the first seed, then with the second, so that there is something to compare early.
std::vector<Trial> chosen_trials(const SweepPlan& plan, const SweepOptions& options) {
  if (options.seeds > plan.seeds.size()) {
    throw bad_request("--seeds",
                      fmt::format("{}: has only {} seeds", options.config.file, plan.seeds.size()));
  }
  const auto wanted = [&](const SweepRun& run) {
    return options.only.empty() || std::ranges::any_of(options.only, [&](const std::string& part) {
             return run.name.find(part) != std::string::npos;
           });
  };
  std::vector<Trial> trials;
  for (size_t seed = 0; seed < (options.seeds == 0 ? plan.seeds.size() : options.seeds); ++seed) {
    for (size_t run = 0; run < plan.runs.size(); ++run) {
      if (wanted(plan.runs[run])) trials.push_back({run, seed, data_settings(plan.runs[run].config)});
    }
  }
  if (trials.empty()) throw bad_request("--only", "is part of no run's name; --list shows them");
  std::map<std::string, size_t> order;  // of the data, as the file first asks for them
  for (const Trial& trial : trials) order.emplace(trial.data, order.size());
  std::ranges::stable_sort(trials, {}, [&](const Trial& trial) { return order.at(trial.data); });
  return trials;
}

void print_plan(const SweepPlan& plan, const std::vector<Trial>& trials,
                const std::vector<std::vector<RoundLog>>& logs) {
  std::vector<std::vector<std::string>> lines{
      {"run", "folders", "seeds", "done", "rounds", "bytes per round"}};
  for (size_t run = 0; run < plan.runs.size(); ++run) {
    size_t seeds = 0, done = 0;
    for (const Trial& trial : trials) {
      if (trial.run != run) continue;
      ++seeds;
      done += logs[run][trial.seed] ? 1 : 0;
    }
    if (seeds == 0) continue;
    const Config& config = plan.runs[run].config;
    lines.push_back({plan.runs[run].name, plan.runs[run].slug + "-SEED", fmt::format("{}", seeds),
                     fmt::format("{}", done), fmt::format("{}", config.run.rounds),
                     "about " + human_bytes(static_cast<double>(estimated_bytes(config)))});
  }
  fmt::print("{}", align_table(lines, "llrrrr"));
}

// Trains the trials of a plan, group after group.
class Sweep {
 public:
  Sweep(const SweepPlan& plan, const SweepOptions& options, const fs::path& path)
      : plan_(plan),
        options_(options),
        fleets_(options.device.trainer("cpu"), options.threads),
        folder_(path),
        logs_(finished_logs(path, plan)),
        clock_(plan.runs.size()) {}

  // Throws Stopped.
  void train_all(std::vector<Trial> trials) {
    std::erase_if(trials, [this](const Trial& trial) { return logs_[trial.run][trial.seed].has_value(); });
    if (trials.empty()) return;
    const std::future<void> awake = std::async(std::launch::async, wake_device, fleets_.device());
    open_data(trials);
    expect(trials);
    say(fmt::format("{}: {} runs to train on {}", plan_.title, trials.size(), fleets_.device()));
    const InterruptWatch watch;
    const size_t all = trials.size(), most = options_.together.runs(fleets_.device());
    while (!trials.empty()) {
      const size_t done = all - trials.size();
      const auto group = take_group(trials, most, [](const Trial& trial) { return trial.run; });
      if (!train(group, done, all, watch)) {
        say(fmt::format("stopped; the same command goes on with what is in {}", folder_.path().string()));
        throw Stopped{watch.signal()};
      }
      write_results();
    }
  }

  void write_results() const {
    const SweepResults all = results();
    write_file(folder_.path() / SweepFolder::kResults, sweep_json(all));
    write_file(folder_.path() / SweepFolder::kTable, sweep_markdown(all));
    write_file(folder_.path() / SweepFolder::kChart, sweep_svg(all));
  }

  void show_results() const {
    say(fmt::format("\n{}\neverything is in {}", sweep_table(results()), folder_.path().string()));
  }

 private:
  SweepResults results() const {
    SweepResults all = sweep_results(plan_, logs_);
    all.trainers = trainers_of(folder_.path(), plan_);
    return all;
  }

  void say(const std::string& line) const {
    if (options_.quiet) return;
    fmt::print("{}\n", line);
    std::fflush(stdout);
  }

  Config config_of(const Trial& trial) const { return plan_.config(trial.run, plan_.seeds[trial.seed]); }

  // All of them before the first run starts, so that what does not fit shows now.
  void open_data(const std::vector<Trial>& trials) {
    for (const Trial& trial : trials) {
      try {
        fleets_.check(config_of(trial));
      } catch (const Error& error) {
        throw Error(error.kind(), fmt::format("run '{}': {}", plan_.runs[trial.run].name, error.what()));
      }
    }
  }

  void expect(const std::vector<Trial>& trials) {
    for (size_t run = 0; run < logs_.size(); ++run) {
      for (const RoundLog& log : logs_[run]) {
        double seconds = 0;
        for (const RoundRecord& record : log.value_or(std::vector<RoundRecord>{})) seconds += record.seconds;
        if (log) clock_.learn(run, log->back().round, seconds);
      }
    }
    for (const Trial& trial : trials) clock_.expect(trial.run, plan_.runs[trial.run].config.run.rounds);
  }

  // One run with several seeds, after `done` of `all`; false if it was stopped before its end.
  bool train(const std::vector<Trial>& group, size_t done, size_t all, const InterruptWatch& watch) {
    const std::string& name = plan_.runs[group.front().run].name;
    std::vector<PlannedRun> runs;
    std::vector<uint64_t> seeds;
    for (const Trial& trial : group) {
      const Config config = config_of(trial);
      runs.push_back({.config = config,
                      .path = folder_.path() / plan_.folder(trial.run, config.run.seed),
                      .name = fmt::format("run '{}', seed {}", name, config.run.seed),
                      .number = trial.run});
      seeds.push_back(config.run.seed);
    }
    const std::string title = group_title(done, all, name, seeds);
    GroupProgress shown(options_.quiet);
    const std::function<bool()> stop = [&] { return watch.interrupted(); };
    if (!train_group(runs, title, {fleets_, clock_, shown, stop})) return false;
    for (size_t i = 0; i < group.size(); ++i)
      logs_[group[i].run][group[i].seed] = finished_log(runs[i].path, runs[i].config.run.rounds);
    return true;
  }

  const SweepPlan& plan_;
  const SweepOptions& options_;
  SharedFleets fleets_;
  SweepFolder folder_;
  std::vector<std::vector<RoundLog>> logs_;  // of what is over
  PlanClock clock_;
};

void sweep(const SweepOptions& options) {
  const SweepPlan plan =
      parse_sweep(read_file_or_pipe(options.config.file, kMostTextBytes), options.config.file,
                  [&](Config& config) { options.config.complete(config); });
  for (const SweepRun& run : plan.runs) {
    if (run.members == 1) continue;
    throw bad_request(options.config.file,
                      fmt::format("run '{}': members: a sweep has no ensembles; 'subfleet reproduce' makes "
                                  "them of files in experiments/beyond",
                                  run.name));
  }
  const fs::path folder =
      options.out.empty() ? fs::path("runs") / fs::path(options.config.file).stem() : fs::path(options.out);
  const std::vector<Trial> trials = chosen_trials(plan, options);
  check_sweep_folder(folder, plan);
  if (options.list) return print_plan(plan, trials, finished_logs(folder, plan));
  Sweep work(plan, options, folder);
  work.train_all(trials);
  work.write_results();
  work.show_results();
}

}  // namespace

void add_sweep_command(CLI::App& program) {
  auto options = std::make_shared<SweepOptions>();
  CLI::App* command = program.add_subcommand(
      "sweep", "Train many runs over settings and seeds, and compare them with error bars");
  command->add_option("FILE", options->config.file, "the runs, as TOML: experiments/bytes.toml is one")
      ->required();
  command->add_option("--set", options->config.sets, "key=value; one setting of all runs over the file's")
      ->allow_extra_args(false);
  command->add_option("--out", options->out, "folder of the sweep, with a run folder each [runs/FILE]")
      ->check(not_empty());
  command->add_option("--only", options->only, "train only runs whose name has this part; may be repeated")
      ->allow_extra_args(false)
      ->check(not_empty());
  command->add_option("--seeds", options->seeds, "train only with the first so many seeds")
      ->check(whole_number(1, 1'000'000));
  options->device.add_to(*command, "cpu");
  options->together.add_to(*command);
  command->add_option("--threads", options->threads, "0: one per core; the result is the same for any number")
      ->check(whole_number(0, 1024));
  command->add_flag("--list", options->list, "show the plan and what of it is done, and stop");
  command->add_flag("--quiet", options->quiet, "print nothing but errors");
  command->footer(
      "Started again, it leaves out what is finished and goes on with what is not. The results cover every\n"
      "run and seed of the file that is finished.");
  command->callback([options] { sweep(*options); });
}

}  // namespace subfleet::cli
