#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <future>
#include <limits>
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
#include "interrupt.h"
#include "report/page.h"
#include "report/progress.h"
#include "report/round_progress.h"
#include "report/sweep_chart.h"
#include "report/sweep_report.h"
#include "report/terminal.h"
#include "store/event_file.h"
#include "store/run_folder.h"
#include "store/run_writer.h"
#include "store/session.h"
#include "subfleet/error.h"
#include "subfleet/local_fleet.h"
#include "subfleet/thread_pool.h"
#include "subfleet/trainer.h"
#include "subfleet/training.h"
#include "sweep/plan.h"
#include "sweep/plan_clock.h"
#include "sweep/results.h"
#include "sweep/sweep_folder.h"
#include "training.h"

namespace subfleet::cli {
namespace {

namespace fs = std::filesystem;

struct SweepOptions {
  ConfigOptions config;
  std::string out;
  std::vector<std::string> only;
  size_t seeds = 0;  // 0: all
  DeviceOptions device;
  size_t threads = 0;
  bool list = false;
  bool quiet = false;
};

// A run with one seed.
struct Trial {
  size_t run = 0, seed = 0;  // as numbers of the plan
  std::string data;          // the settings of its data and tests: equal for those that share a fleet
};

std::string data_settings(const Config& config) {
  std::string text;
  for (const Setting& setting : settings(config)) {
    if (setting.name.starts_with("data.") || setting.name == "run.eval_samples")
      text += fmt::format("{} = {}\n", setting.name, setting.value);
  }
  return text;
}

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

// Trains the trials of a plan one after the other, in one process: data are read once, and a device is woken
// once.
class Sweep {
 public:
  Sweep(const SweepPlan& plan, const SweepOptions& options, const fs::path& path)
      : plan_(plan),
        options_(options),
        device_(options.device.trainer("cpu")),
        pool_(options.threads),
        folder_(path),
        logs_(finished_logs(path, plan)),
        clock_(plan.runs.size()),
        mode_(Progress::detect(stdout, options.quiet)) {}

  // Throws Stopped.
  void train_all(std::vector<Trial> trials) {
    std::erase_if(trials, [this](const Trial& trial) { return logs_[trial.run][trial.seed].has_value(); });
    if (trials.empty()) return;
    const std::future<void> awake = std::async(std::launch::async, wake_device, device_);
    open_data(trials);
    expect(trials);
    say(fmt::format("{}: {} runs to train on {}", plan_.title, trials.size(), device_));
    const InterruptWatch watch;
    for (size_t i = 0; i < trials.size(); ++i) {
      if (!train(trials[i], fmt::format("{}/{}", i + 1, trials.size()), watch)) {
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

  PlanLine plan_line() const { return {clock_.done(), clock_.seconds_left()}; }

  Config config_of(const Trial& trial) const { return plan_.config(trial.run, plan_.seeds[trial.seed]); }

  // All of them before the first run starts, so that what does not fit shows now.
  void open_data(const std::vector<Trial>& trials) {
    for (const Trial& trial : trials) {
      const Config config = config_of(trial);
      try {
        const auto found = data_.find(trial.data);
        const SplitFederation& data =
            found != data_.end()
                ? found->second
                : data_.emplace(trial.data, open_split_federation(config.data)).first->second;
        check_fits(config, resolve_model(config.model), data.clients(), data.all().input(),
                   data.all().classes());
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

  Fleet& fleet_for(const Trial& trial, const Config& config) {
    if (fleet_data_ != trial.data) {
      fleet_.reset();
      fleet_ = std::make_unique<LocalFleet>(std::move(data_.at(trial.data)), device_, pool_,
                                            config.run.eval_samples);
      fleet_data_ = trial.data;
    }
    return *fleet_;
  }

  // False if it was stopped before its end.
  bool train(const Trial& trial, const std::string& number, const InterruptWatch& watch) {
    const Config config = config_of(trial);
    Fleet& fleet = fleet_for(trial, config);
    const Provenance now =
        provenance_now(config, fleet, {.device = device_, .threads = static_cast<uint32_t>(pool_.threads())});
    const fs::path path = folder_.path() / plan_.folder(trial.run, config.run.seed);
    Run run(config, fleet);
    const bool begun = RunWriter::has_begun(path);
    RunWriter writer = begun ? RunWriter::reopen(path) : RunWriter::begin(path, run, now);
    const uint64_t bytes = begun ? writer.restore(run, now) : 0;
    clock_.give_up(trial.run, run.round());  // they were done before

    Progress progress(
        stdout, mode_,
        {.rounds = config.run.rounds,
         .start_round = run.round(),
         .unicode = look_at_terminal(stdout).unicode,
         .fewest_lines = 2,
         .title = fmt::format("{} {}, seed {}", number, plan_.runs[trial.run].name, config.run.seed),
         .test_lines = false,
         .plan = plan_line(),
         .width = {}});
    RoundProgress shown(progress, bytes, [&](double seconds) {
      clock_.round_done(trial.run, seconds);
      return plan_line();
    });
    EventFile events(path, writer.log());
    const std::array<RoundObserver*, 3> observers{&writer, &events, &shown};
    try {
      if (!subfleet::train(run, observers, [&] { return watch.interrupted(); })) {
        writer.checkpoint(run);
        return false;
      }
      writer.finish(run);
    } catch (const Diverged& diverged) {
      RoundRecord last = diverged.last();
      last.train_loss = std::numeric_limits<double>::quiet_NaN();
      writer.append(last);
      clock_.give_up(trial.run, config.run.rounds - run.round());
      progress.note(
          fmt::format("run '{}', seed {}: {}", plan_.runs[trial.run].name, config.run.seed, diverged.what()));
    }
    progress.finish();
    write_run_page(path);
    logs_[trial.run][trial.seed] = writer.log();
    return true;
  }

  const SweepPlan& plan_;
  const SweepOptions& options_;
  std::string device_;
  ThreadPool pool_;
  SweepFolder folder_;
  std::vector<std::vector<RoundLog>> logs_;  // of what is over
  PlanClock clock_;
  Progress::Mode mode_;
  std::map<std::string, SplitFederation> data_;  // by their settings, until their fleet takes them
  std::unique_ptr<LocalFleet> fleet_;
  std::string fleet_data_;
};

void sweep(const SweepOptions& options) {
  const SweepPlan plan =
      parse_sweep(read_file_or_pipe(options.config.file, kMostTextBytes), options.config.file,
                  [&](Config& config) { options.config.apply_sets(config); });
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
