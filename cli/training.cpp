#include "training.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>

#include "base/file.h"
#include "base/text.h"
#include "checks.h"
#include "interrupt.h"
#include "report/page.h"
#include "report/progress.h"
#include "report/terminal.h"
#include "store/run_folder.h"
#include "subfleet/error.h"

namespace subfleet::cli {
namespace {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// Rounds until the last, or until Ctrl-C. Returns whether all were done.
bool train_rounds(Run& run, RunWriter& writer, Progress& progress, uint64_t bytes) {
  const Config& config = run.config();
  const InterruptWatch watch;
  while (run.round() < config.run.rounds && !watch.interrupted()) {
    const Stopwatch whole;
    const RoundReport report = run.step();
    const RoundRecord record = measure_round(run, report, whole.seconds());
    writer.append(record);
    const bool last = report.round == config.run.rounds;
    if (!last && report.round % config.run.checkpoint_every == 0) writer.checkpoint(run);
    bytes += report.bytes_down + report.bytes_up;
    if (report.diverged > 0) {
      progress.note(fmt::format("round {}: {} of {} clients diverged and were left out", report.round,
                                report.diverged, config.clients));
    }
    progress.update({.round = report.round,
                     .test_accuracy = record.test_accuracy,
                     .train_accuracy_median = report.train_accuracy_median,
                     .bytes_total = bytes,
                     .seconds = whole.seconds()});
  }
  writer.finish(run);
  return run.round() >= config.run.rounds;
}

void print_result(const RunWriter& writer, bool complete, uint32_t round) {
  const std::string folder = writer.folder().string();
  if (!complete) {
    fmt::print("stopped after round {}; go on with: subfleet train --resume {}\n", round, folder);
    return;
  }
  const RunSummary summary = load_run(writer.folder());
  const auto accuracy = final_accuracy(summary);
  const auto bytes = static_cast<double>(bytes_total(summary));
  const auto search_bytes = static_cast<double>(summary.search_bytes);
  fmt::print("{} after {} rounds, {} exchanged{}; everything is in {}\n",
             accuracy ? "test accuracy " + human_percent(accuracy) : "nothing to test with", round,
             human_bytes(bytes),
             search_bytes > 0 ? fmt::format(", {} of it in the search", human_bytes(search_bytes)) : "",
             folder);
}

}  // namespace

void TrainingOptions::add_to(CLI::App& command, const std::string& what, const std::string& default_folder) {
  config.add_to(command);
  command.add_option("--out", out, fmt::format("folder of the {} [{}]", what, default_folder))
      ->check(not_empty());
  command.add_option("--resume", resume, fmt::format("go on with the {} of this folder", what))
      ->check(not_empty());
  command.add_option("--init", init, "start from the weights of this safetensors file")->check(not_empty());
  command.add_option("--device", device, "what does the arithmetic: cpu or reference")->capture_default_str();
  command.add_option("--threads", threads, "0: one per core; the result is the same for any number")
      ->check(whole_number(0, 1024));
  command.add_flag("--quiet", quiet, "print nothing but errors");
  command.add_flag("--settings", show_settings, "list every setting with its default, and stop");
}

void print_settings() {
  Config config;
  for (const Setting& s : settings(config)) fmt::print("{:<22} {:<14} {}\n", s.name, s.value, s.help);
}

void say(const TrainingOptions& options, const std::string& line) {
  if (options.quiet) return;
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

void check_resume(const TrainingOptions& options) {
  if (options.resume.empty() ||
      (options.config.file.empty() && options.out.empty() && options.init.empty())) {
    return;
  }
  throw bad_request("--resume",
                    "takes its configuration, folder and weights from what it resumes; CONFIG, --out and "
                    "--init do not go with it");
}

Config resumed_config(const TrainingOptions& options, const Config& saved) {
  Config config = saved;
  options.config.apply_sets(config);
  validate(config);
  const auto before = fixed_settings(saved);
  for (const auto& [name, value] : fixed_settings(config)) {
    if (before.at(name) != value) {
      throw bad_request(name, "cannot change in a run that has begun; start a new run with --out");
    }
  }
  return config;
}

std::string default_folder(const std::string& kind) {
  return fmt::format("runs/{:%Y%m%d-%H%M%S}-{}", fmt::localtime(std::time(nullptr)), kind);
}

LocalFleet make_fleet(const Config& config, const TrainingOptions& options, ThreadPool& pool) {
  SplitFederation data(open_federation(config.data), config.data.seed, config.data.test_fraction);
  return {std::move(data), make_trainer(options.device, pool), config.run.eval_samples};
}

std::string describe(const Config& config, const Fleet& fleet) {
  return fmt::format("{} by {} ({}): {} clients, {} a round", config.model, config.code.family,
                     config.server.optimizer, fleet.clients(), config.clients);
}

std::string describe(const TrainingOptions& options, const ThreadPool& pool) {
  return fmt::format("on {} with {} thread{}", options.device, pool.threads(),
                     pool.threads() == 1 ? "" : "s");
}

void train_on(const TrainingOptions& options, Run& run, RunWriter& writer, uint64_t bytes) {
  Progress progress(stdout, Progress::detect(stdout, options.quiet),
                    {.rounds = run.config().run.rounds,
                     .start_round = run.round(),
                     .unicode = look_at_terminal(stdout).unicode,
                     .width = {}});
  const bool complete = train_rounds(run, writer, progress, bytes);
  progress.finish();
  const std::array runs{load_run(writer.folder())};
  write_file(writer.folder() / RunWriter::kPage, report_page(runs));
  if (!options.quiet) print_result(writer, complete, run.round());
}

}  // namespace subfleet::cli
