#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checks.h"
#include "commands.h"
#include "config_options.h"
#include "device_options.h"
#include "group_progress.h"
#include "help.h"
#include "installed_files.h"
#include "interrupt.h"
#include "subfleet/base/path_name.h"
#include "subfleet/base/text.h"
#include "subfleet/error.h"
#include "subfleet/report/reproduce_report.h"
#include "subfleet/report/terminal.h"
#include "subfleet/work/experiment_library.h"
#include "subfleet/work/reproduction.h"
#include "together.h"

namespace subfleet::cli {
namespace {

struct ReproduceOptions {
  std::vector<std::string> what;
  ConfigOptions config;
  std::string experiments = default_experiments(), out = "runs/reproduce";
  size_t seeds = 0;  // 0: all
  DeviceOptions device;
  TogetherOption together;
  size_t threads = 0;
  bool list = false, tables = false;
  bool quiet = false;
};

void say(const ReproduceOptions& options, const std::string& line) {
  if (options.quiet) return;
  fmt::print("{}\n", in_locale(line));
  std::fflush(stdout);
}

// Shows the groups, and says what came of searches, ensembles and experiments.
class ReproductionProgress final : public ReproductionObserver {
 public:
  explicit ReproductionProgress(const ReproduceOptions& options)
      : options_(options), groups_(options.quiet) {}

  void on_start(const GroupStart& group) override { groups_.on_start(group); }
  void on_round(const RoundLine& line) override { groups_.on_round(line); }
  void on_note(const std::string& line) override { groups_.on_note(line); }
  void on_end() override { groups_.on_end(); }

  void on_searched(const Searched& searched) override {
    if (groups_.mode() != Progress::Mode::kLines) return;
    say(options_,
        fmt::format("{}: {}; {}, {} left", searched.title, searched.found, human_time(searched.seconds),
                    searched.seconds_left ? human_time(*searched.seconds_left) : "--"));
  }
  void on_ensemble(const std::string& title, const std::optional<Evaluation>& test) override {
    say(options_, fmt::format("{}: {}", title,
                              test ? "together " + human_percent(test->accuracy()) : "a member diverged"));
  }
  void on_experiment(const Experiment& experiment, const ExperimentResult& result) override {
    if (!experiment.values.empty())
      say(options_, fmt::format("\n{}\n{}", experiment.title, reproduce_table(result)));
  }

 private:
  const ReproduceOptions& options_;
  GroupProgress groups_;
};

void list(const Reproduction& work) {
  std::vector<std::vector<std::string>> lines{
      {"experiment", "what", "in the paper", "values", "done", "took"}};
  for (const Experiment& experiment : work.experiments()) {
    const std::vector<Trial> trials = work.pool().trials(experiment);
    const auto done = std::ranges::count_if(trials, is_finished);
    const auto seconds = work.pool().seconds({&experiment, 1});
    lines.push_back({experiment.name, experiment.title, experiment.paper.empty() ? "-" : experiment.paper,
                     fmt::format("{}", experiment.values.size()),
                     trials.empty() ? "at once" : fmt::format("{} of {}", done, trials.size()),
                     trials.empty() || !seconds ? "-" : human_time(*seconds)});
  }
  fmt::print("{}", align_table(lines, "lllrrr"));
}

void summarise(const Reproduction& work, const ReproduceOptions& options) {
  std::vector<std::vector<std::string>> lines{{"experiment", "reading", "compared", "agree"}};
  for (const auto& [name, readings] : work.agreements()) {
    for (const Agreement& one : readings) {
      if (one.compared == 0) continue;
      lines.push_back({name, one.reading.empty() ? "-" : one.reading, fmt::format("{}", one.compared),
                       fmt::format("{}", one.agree)});
    }
  }
  if (lines.size() > 1) say(options, fmt::format("\n{}", align_table(lines, "llrr")));
  const auto seconds = work.pool().seconds(work.experiments());
  if (seconds && *seconds > 0)
    say(options, fmt::format("made in {}, all calls together", human_time(*seconds)));
  const std::string folder = path_name(work.pool().path());
  const auto has_runs = [&](const Experiment& one) {
    return one.kind == ExperimentKind::kRuns && std::ranges::any_of(work.pool().trials(one), is_finished);
  };
  const bool any_runs = std::ranges::any_of(work.experiments(), has_runs);
  say(options,
      fmt::format("everything is in {}{}", path_name(work.pool().path() / Reproduction::kTable),
                  any_runs ? fmt::format("; pages of runs: subfleet report {}/runs/*", folder) : ""));
}

// Throws Stopped.
void make_all(Reproduction& work, const ReproduceOptions& options) {
  const InterruptWatch watch;
  ReproductionProgress progress(options);
  if (work.make_all(progress, [&] { return watch.interrupted(); })) return;
  say(options,
      fmt::format("stopped; the same command goes on with what is in {}", path_name(work.pool().path())));
  throw Stopped{watch.signal()};
}

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
  const std::string device = options.device.trainer("cpu");
  Reproduction work(std::move(chosen), library.names(),
                    {.out = options.out,
                     .use = options.list ? Pool::Use::kReadOnly : Pool::Use::kAdd,
                     .device = device,
                     .threads = options.threads,
                     .together = options.together.runs(device)});
  if (options.list) return list(work);
  options.tables ? work.write_tables() : make_all(work, options);
  summarise(work, options);
}

}  // namespace

void add_reproduce_command(CLI::App& program) {
  auto options = std::make_shared<ReproduceOptions>();
  CLI::App* command = program.add_subcommand(
      "reproduce", "Make the paper's tables and figures, and compare ours with every published number");
  command->add_option("WHAT", options->what,
                      "'all' of the paper's, 'beyond' the paper, or experiments by name");
  options->config.add_set_to(*command, "one setting of all runs, as data.path=FOLDER; may be given again");
  command->add_option("--out", options->out, "folder of the results and of the runs behind them")
      ->capture_default_str()
      ->type_name("DIR")
      ->check(not_empty());
  command->add_option("--experiments", options->experiments, "folder with paper/ and beyond/")
      ->capture_default_str()
      ->type_name("DIR")
      ->check(not_empty());
  command->add_option("--seeds", options->seeds, "use only the first N seeds of each experiment")
      ->check(whole_number(1, 1'000'000));
  options->device.add_to(*command, "cpu");
  options->together.add_to(*command);
  command->add_option("--threads", options->threads, "0: one per core; the result is the same for any number")
      ->check(whole_number(0, 1024));
  command->add_flag("--list", options->list, "show the experiments and what of them is done, and stop");
  command->add_flag("--tables", options->tables, "write the tables of what is there, and make nothing");
  command->add_flag("--quiet", options->quiet, "print nothing but errors");
  command->footer(
      footer("Started again, it leaves out what is finished. --out gets the tables, results.md and\n"
             "results.json, and the run folders, which 'subfleet report' reads.",
             {"subfleet reproduce --list", "subfleet reproduce all --seeds 2",
              "subfleet reproduce accuracy --set data.path=~/femnist --device cuda"}));
  command->callback([options] { reproduce(*options); });
}

}  // namespace subfleet::cli
