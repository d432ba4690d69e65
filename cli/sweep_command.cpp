#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "checks.h"
#include "commands.h"
#include "config_options.h"
#include "device_options.h"
#include "group_progress.h"
#include "help.h"
#include "interrupt.h"
#include "subfleet/base/path_name.h"
#include "subfleet/base/text.h"
#include "subfleet/error.h"
#include "subfleet/report/sweep_report.h"
#include "subfleet/report/terminal.h"
#include "subfleet/sweep/plan.h"
#include "subfleet/sweep/sweep_folder.h"
#include "subfleet/work/sweep_session.h"
#include "together.h"

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

// What this call is to train, whether it is done or not.
std::vector<SweepTrial> chosen_trials(const SweepPlan& plan, const SweepOptions& options) {
  if (options.seeds > plan.seeds.size()) {
    throw bad_request("--seeds",
                      fmt::format("is more than the {} of {}", plan.seeds.size(), options.config.file));
  }
  std::vector<SweepTrial> trials = choose_trials(plan, options.only, options.seeds);
  if (trials.empty()) throw bad_request("--only", "is part of no run's name; --list shows them");
  return trials;
}

void print_plan(const SweepPlan& plan, const std::vector<SweepTrial>& trials,
                const std::vector<std::vector<RoundLog>>& logs) {
  std::vector<std::vector<std::string>> lines{
      {"run", "folders", "seeds", "done", "rounds", "bytes per round"}};
  for (size_t run = 0; run < plan.runs.size(); ++run) {
    size_t seeds = 0, done = 0;
    for (const SweepTrial& trial : trials) {
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

void say(const SweepOptions& options, const std::string& line) {
  if (options.quiet) return;
  fmt::print("{}\n", in_locale(line));
  std::fflush(stdout);
}

// Throws Stopped.
void train_all(SweepSession& session, const SweepPlan& plan, const std::vector<SweepTrial>& trials,
               const fs::path& folder, const SweepOptions& options) {
  const size_t left = session.prepare(trials);
  if (left == 0) return;
  say(options,
      fmt::format("{}: {} to train on {}", plan.title, counted(left, "run"), options.device.trainer("cpu")));
  const InterruptWatch watch;
  GroupProgress progress(options.quiet);
  if (session.train(progress, [&] { return watch.interrupted(); })) return;
  say(options, fmt::format("stopped; the same command goes on with what is in {}", path_name(folder)));
  throw Stopped{watch.signal()};
}

void sweep(const SweepOptions& options) {
  SweepPlan plan = read_sweep(options.config.file, [&](Config& config) { options.config.complete(config); });
  const fs::path folder =
      options.out.empty() ? fs::path("runs") / fs::path(options.config.file).stem() : fs::path(options.out);
  keep_horizons(folder, plan);
  const std::vector<SweepTrial> trials = chosen_trials(plan, options);
  check_sweep_folder(folder, plan);
  if (options.list) return print_plan(plan, trials, finished_logs(folder, plan));
  const std::string device = options.device.trainer("cpu");
  SweepSession session(
      plan, folder,
      {.device = device, .threads = options.threads, .together = options.together.runs(device)});
  train_all(session, plan, trials, folder, options);
  session.write_results();
  say(options, fmt::format("\n{}\neverything is in {}", sweep_table(session.results()), path_name(folder)));
  if (all_diverged(session.results()))
    throw failure(path_name(folder), "every run diverged; lower server.lr or round.client_lr");
}

}  // namespace

void add_sweep_command(CLI::App& program) {
  auto options = std::make_shared<SweepOptions>();
  CLI::App* command = program.add_subcommand(
      "sweep", "Train many runs over settings and seeds, and compare them with error bars");
  command->add_option("FILE", options->config.file, "the runs, as TOML: experiments/bytes.toml is one")
      ->required();
  options->config.add_set_to(*command, "one setting of all runs over the file's; may be given again");
  command->add_option("--out", options->out, "folder of the sweep, with a run folder each [runs/FILE]")
      ->check(not_empty())
      ->type_name("DIR");
  command->add_option("--only", options->only, "train only runs whose name has this part; may be given again")
      ->allow_extra_args(false)
      ->check(not_empty())
      ->type_name("PART");
  command->add_option("--seeds", options->seeds, "train only with the first so many seeds")
      ->check(whole_number(1, 1'000'000));
  options->device.add_to(*command, "cpu");
  options->together.add_to(*command);
  command->add_option("--threads", options->threads, "0: one per core; the result is the same for any number")
      ->check(whole_number(0, 1024));
  command->add_flag("--list", options->list, "show the plan and what of it is done, and stop");
  command->add_flag("--quiet", options->quiet, "print nothing but errors");
  command->footer(footer(
      "Started again, it leaves out what is finished and goes on with what is not. The results cover every\n"
      "run and seed of the file that is finished.",
      {"subfleet sweep experiments/bytes.toml --list",
       "subfleet sweep experiments/bytes.toml --seeds 2 --set run.rounds=50"}));
  command->callback([options] { sweep(*options); });
}

}  // namespace subfleet::cli
