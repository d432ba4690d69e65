#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "checks.h"
#include "commands.h"
#include "config_options.h"
#include "device_options.h"
#include "experiment_library.h"
#include "interrupt.h"
#include "plan_searching.h"
#include "plan_training.h"
#include "report/reproduce_report.h"
#include "reproduce/pool.h"
#include "store/run_writer.h"
#include "subfleet/error.h"
#include "subfleet/trainer.h"
#include "test_models.h"
#include "together.h"
#include "work_left.h"

namespace subfleet::cli {
namespace {

struct ReproduceOptions {
  std::vector<std::string> what;
  ConfigOptions config;
  std::string experiments = "experiments", out = "runs/reproduce";
  size_t seeds = 0;  // 0: all
  DeviceOptions device;
  TogetherOption together;
  size_t threads = 0;
  bool list = false, tables = false;
  bool quiet = false;
};

// Makes what is missing of the experiments, group after group of trials, in one process. Their tables replace
// those of earlier calls; the results are all tables that are there.
class Reproduction {
 public:
  Reproduction(std::vector<Experiment> experiments, const ReproduceOptions& options)
      : experiments_(std::move(experiments)),
        options_(options),
        pool_(options.out, options.list ? Pool::Use::kReadOnly : Pool::Use::kAdd),
        fleets_(options.device.trainer("cpu"), options.threads),
        left_(experiments_.size()),
        mode_(Progress::detect(stdout, options.quiet)) {
    if (!options.list) make_folder(pool_.path() / "tables");
    for (Experiment& experiment : experiments_) settle_rates(experiment, /*must=*/false);
  }

  // Throws Stopped.
  void make_all(const std::vector<std::string>& names) {
    count_from(0);
    std::future<void> awake;
    if (left_.trials() > 0) awake = std::async(std::launch::async, wake_device, fleets_.device());
    const InterruptWatch watch;
    for (size_t i = 0; i < experiments_.size(); ++i) {
      if (!experiments_[i].rates_from.empty()) {  // its runs are known from now on, and so are others'
        for (size_t j = i; j < experiments_.size(); ++j) settle_rates(experiments_[j], /*must=*/j == i);
        count_from(i);
      }
      make(i, watch);
      const ExperimentResult result = write_table(experiments_[i]);
      put_together(names);
      if (!experiments_[i].values.empty())
        say(fmt::format("\n{}\n{}", experiments_[i].title, reproduce_table(result)));
    }
  }

  void list() const {
    std::vector<std::vector<std::string>> lines{
        {"experiment", "what", "in the paper", "values", "done", "took"}};
    for (const Experiment& experiment : experiments_) {
      const std::vector<Trial> trials = pool_.trials(experiment);
      const auto done = std::ranges::count_if(trials, is_finished);
      const auto seconds = pool_.seconds({&experiment, 1});
      lines.push_back({experiment.name, experiment.title, experiment.paper.empty() ? "-" : experiment.paper,
                       fmt::format("{}", experiment.values.size()),
                       trials.empty() ? "at once" : fmt::format("{} of {}", done, trials.size()),
                       trials.empty() || !seconds ? "-" : human_time(*seconds)});
    }
    fmt::print("{}", align_table(lines, "lllrrr"));
  }

  void summarise() const {
    std::vector<std::vector<std::string>> lines{{"experiment", "reading", "compared", "agree"}};
    for (const auto& [name, readings] : agreements_) {
      for (const Agreement& one : readings) {
        if (one.compared == 0) continue;
        lines.push_back({name, one.reading.empty() ? "-" : one.reading, fmt::format("{}", one.compared),
                         fmt::format("{}", one.agree)});
      }
    }
    if (lines.size() > 1) say(fmt::format("\n{}", align_table(lines, "llrr")));
    const auto seconds = pool_.seconds(experiments_);
    if (seconds && *seconds > 0) say(fmt::format("made in {}, all calls together", human_time(*seconds)));
    say(fmt::format("everything is in {}; pages of runs: subfleet report {}/runs/*",
                    (pool_.path() / kTable).string(), pool_.path().string()));
  }

  // Of what is there.
  void write_tables(const std::vector<std::string>& names) {
    for (const Experiment& experiment : experiments_) {
      const std::vector<Trial> trials = pool_.trials(experiment);
      if (trials.empty() || std::ranges::any_of(trials, is_finished)) write_table(experiment);
    }
    put_together(names);
  }

 private:
  static constexpr auto kTable = "results.md", kResults = "results.json";

  std::filesystem::path table(const std::string& name, const char* end) const {
    return pool_.path() / "tables" / (name + end);
  }

  ExperimentResult write_table(const Experiment& experiment) {
    ExperimentResult result = experiment_result(experiment, pool_);
    write_file(table(experiment.name, ".md"), reproduce_markdown(result));
    write_file(table(experiment.name, ".json"), reproduce_json(result));
    for (const Picture& picture : reproduce_pictures(result)) {
      write_file(pool_.path() / picture.file,
                 svg_file(picture.chart, {.width = 900, .plot_height = 400, .follows_reader = false}));
    }
    agreements_.emplace_back(experiment.name, agreements(result));
    return result;
  }

  // The tables of this call and of earlier ones. `names`: of all experiments that there are, in their order.
  void put_together(const std::vector<std::string>& names) const {
    std::string text =
        "# What came of it\n\n"
        "Beside a number of the paper, ✓: ours is the same, or the paper's number lies within our 95 % "
        "interval (Student's t over seeds, widened by half of the number's last digit), or our whole "
        "interval lies where a claim such as > 0 says, "
        "or, for a share of searches, Fisher's exact test does not tell the two apart at 5 %; ✗: it does "
        "not. In brackets: Wilson's 95 % interval of a share. The paper trained with 3,400 writers of "
        "EMNIST62.\n\n";
    std::vector<std::string> json;
    for (const std::string& name : names) {
      if (!std::filesystem::exists(table(name, ".json"))) continue;
      text += read_file(table(name, ".md"));
      json.push_back(read_file(table(name, ".json")));
    }
    write_file(pool_.path() / kTable, text);
    write_file(pool_.path() / kResults, fmt::format("[\n{}\n]\n", fmt::join(json, ",\n")));
  }

  void say(const std::string& line) const {
    if (options_.quiet) return;
    fmt::print("{}\n", line);
    std::fflush(stdout);
  }

  // With rates_from, every run gets its rate once the searches are done; `must`: now. What has another's runs
  // has its rates, too.
  void settle_rates(Experiment& experiment, bool must) {
    if (!experiment.runs_of.empty())
      experiment.plans = std::ranges::find(experiments_, experiment.runs_of, &Experiment::name)->plans;
    if (experiment.rates_from.empty()) return;
    const auto searches = std::ranges::find(experiments_, experiment.rates_from, &Experiment::name);
    if (!take_rates(experiment, *searches, pool_) && must) {
      throw failure(experiment.name,
                    fmt::format("the searches of {} found no rate for one of its runs", searches->name));
    }
  }

  // What there is to do for an experiment and those after it; each trial is made for the first that has it.
  void count_from(size_t first) {
    std::set<std::filesystem::path> known;
    for (size_t i = first; i < experiments_.size(); ++i) {
      std::vector<Trial> trials = pool_.missing(experiments_[i]);
      std::erase_if(trials, [&](const Trial& trial) { return !known.insert(trial.path).second; });
      left_.count(i, trials);
    }
  }

  void make(size_t number, const InterruptWatch& watch) {
    std::vector<Trial> trials = pool_.missing(experiments_[number]);
    for (const Trial& trial : trials) {
      try {
        fleets_.check(trial.config, /*tested=*/!trial.members.empty());
      } catch (const Error& error) {
        throw Error(error.kind(),
                    fmt::format("{}, run '{}': {}", experiments_[number].name, trial.name, error.what()));
      }
    }
    // Those with the same data one after the other; an ensemble stays behind its members.
    std::ranges::stable_sort(trials, {}, [](const Trial& trial) { return data_settings(trial.config); });
    while (!trials.empty()) {
      const auto group = take_group(trials, options_.together.runs(fleets_.device()), together_key);
      const Stopwatch stopwatch;
      const bool whole = make(number, group, watch);
      pool_.add_time(group, stopwatch.seconds());
      done_ += group.size();
      if (!whole) {
        say(fmt::format("stopped; the same command goes on with what is in {}", pool_.path().string()));
        throw Stopped{watch.signal()};
      }
    }
  }

  // Trials that can be made side by side; false if they were stopped.
  bool make(size_t number, const std::vector<Trial>& group, const InterruptWatch& watch) {
    const Trial& first = group.front();
    std::vector<uint64_t> seeds;
    for (const Trial& trial : group) seeds.push_back(trial.config.run.seed);
    const std::string title = group_title(
        done_, done_ + left_.trials(), fmt::format("{}: {}", experiments_[number].name, first.name), seeds);
    const uint32_t rounds = left_.begin(number, group);
    if (first.kind != ExperimentKind::kRuns) return search(number, group, title, rounds, watch);
    if (!first.members.empty()) {
      test_members(first, title);
      return true;
    }
    std::vector<RunOfPlan> runs;
    for (const Trial& trial : group) {
      runs.push_back({.config = trial.config,
                      .path = trial.path,
                      .name = fmt::format("run '{}', seed {}", trial.name, trial.config.run.seed),
                      .number = number,
                      .for_good = true});
    }
    return train_runs_of_plan(runs, title, fleets_, left_.clock(), mode_, watch);
  }

  bool search(size_t number, const std::vector<Trial>& group, const std::string& title, uint32_t expected,
              const InterruptWatch& watch) {
    const Stopwatch stopwatch;
    const auto done = search_trials(group, title, number, expected, fleets_, left_.clock(), mode_, watch);
    if (!done) return false;
    left_.searched(number, group.size(), done->rounds);
    if (mode_ == Progress::Mode::kLines) {
      const auto left = left_.clock().seconds_left();
      say(fmt::format("{}: {}; {}, {} left", title, done->found, human_time(stopwatch.seconds()),
                      left ? human_time(*left) : "--"));
    }
    return true;
  }

  // Tests an ensemble whose members are trained, unless one of them diverged.
  void test_members(const Trial& ensemble, const std::string& title) {
    const ModelSpec model = resolve_model(ensemble.config.model);
    std::vector<std::vector<float>> members;
    for (const Trial& member : ensemble.members) {
      if (RunWriter::is_finished(member.path)) members.push_back(RunWriter::weights(member.path, model));
    }
    std::optional<Evaluation> test;
    if (members.size() == ensemble.members.size())
      test = test_ensemble(fleets_.fleet(ensemble.config), model, members);
    save(ensemble, test);
    say(fmt::format("{}: {}", title,
                    test ? "together " + human_percent(test->accuracy()) : "a member diverged"));
  }

  std::vector<Experiment> experiments_;
  std::vector<std::pair<std::string, std::vector<Agreement>>>
      agreements_;  // by the names of those with a table
  const ReproduceOptions& options_;
  Pool pool_;
  SharedFleets fleets_;
  WorkLeft left_;
  Progress::Mode mode_;
  size_t done_ = 0;  // trials
};

void reproduce(const ReproduceOptions& options) {
  if (!options.list && options.what.empty())
    throw bad_request("reproduce", "say what: 'all', 'beyond', or names that --list shows");
  ExperimentLibrary library(options.experiments, [&](Config& config) { options.config.apply_sets(config); });
  std::vector<Experiment> chosen =
      library.choose(options.what.empty() ? std::vector<std::string>{"all", "beyond"} : options.what);
  for (Experiment& experiment : chosen) {
    for (SweepPlan& plan : experiment.plans) {
      if (options.seeds != 0 && plan.seeds.size() > options.seeds) plan.seeds.resize(options.seeds);
    }
  }
  Reproduction work(std::move(chosen), options);
  if (options.list) return work.list();
  options.tables ? work.write_tables(library.names()) : work.make_all(library.names());
  work.summarise();
}

}  // namespace

void add_reproduce_command(CLI::App& program) {
  auto options = std::make_shared<ReproduceOptions>();
  CLI::App* command = program.add_subcommand(
      "reproduce", "Make the paper's tables and figures, and compare ours with every published number");
  command->add_option("WHAT", options->what,
                      "'all' of the paper's, 'beyond' the paper, or experiments by name");
  command
      ->add_option("--set", options->config.sets, "key=value; one setting of all runs, as data.path=FOLDER")
      ->allow_extra_args(false);
  command->add_option("--out", options->out, "folder of the results and of what they are made from")
      ->capture_default_str()
      ->check(not_empty());
  command->add_option("--experiments", options->experiments, "folder with paper/ and beyond/")
      ->capture_default_str()
      ->check(not_empty());
  command->add_option("--seeds", options->seeds, "only the first so many seeds of each experiment")
      ->check(whole_number(1, 1'000'000));
  options->device.add_to(*command, "cpu");
  options->together.add_to(*command);
  command->add_option("--threads", options->threads, "0: one per core; the result is the same for any number")
      ->check(whole_number(0, 1024));
  command->add_flag("--list", options->list, "show the experiments and what of them is done, and stop");
  command->add_flag("--tables", options->tables, "write the tables of what is there, and make nothing");
  command->add_flag("--quiet", options->quiet, "print nothing but errors");
  command->footer(
      "Started again, it leaves out what is finished. The tables are results.md, and results.json, in --out; "
      "the\n"
      "run folders in it are what 'subfleet report' reads.");
  command->callback([options] { reproduce(*options); });
}

}  // namespace subfleet::cli
