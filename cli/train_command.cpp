#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>

#include "checks.h"
#include "config_options.h"
#include "interrupt.h"
#include "report/progress.h"
#include "report/run_folder.h"
#include "report/run_writer.h"
#include "report/terminal.h"
#include "report/text.h"
#include "subfleet/config.h"
#include "subfleet/error.h"
#include "subfleet/local_fleet.h"
#include "subfleet/run.h"
#include "subfleet/safetensors.h"
#include "subfleet/thread_pool.h"

namespace subfleet::cli {
namespace {

struct TrainOptions {
  ConfigOptions config;
  std::string out, resume, init;
  std::string device = "cpu";
  size_t threads = 0;
  bool quiet = false;
  bool show_settings = false;
};

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// The configuration of a resumed run: the saved one, with what may change.
Config resumed_config(const TrainOptions& options, const RunWriter& writer) {
  const Config saved = writer.config();
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

std::string default_folder(const Config& config) {
  const std::time_t now = std::time(nullptr);
  return fmt::format("runs/{:%Y%m%d-%H%M%S}-{}-{}", fmt::localtime(now), config.code.family,
                     config.server.optimizer);
}

void print_settings() {
  Config config;
  for (const Setting& s : settings(config)) fmt::print("{:<22} {:<14} {}\n", s.name, s.value, s.help);
}

LocalFleet make_fleet(const Config& config, const TrainOptions& options, ThreadPool& pool) {
  SplitFederation data(open_federation(config.data), config.data.seed, config.data.test_fraction);
  return {std::move(data), make_trainer(options.device, pool), config.run.eval_samples};
}

// Rounds until the last, or until Ctrl-C. Returns whether all were done.
bool train_rounds(const Config& config, Run& run, RunWriter& writer, Progress& progress, uint64_t bytes) {
  const InterruptWatch watch;
  while (run.round() < config.run.rounds && !watch.interrupted()) {
    const Stopwatch whole;
    const RoundReport report = run.step();
    RoundRecord record{.round = report.round,
                       .bytes_down = report.bytes_down,
                       .bytes_up = report.bytes_up,
                       .train_loss = report.train_loss,
                       .train_accuracy_median = report.train_accuracy_median,
                       .seconds = whole.seconds(),
                       .diverged = report.diverged,
                       .test_accuracy = {},
                       .test_loss = {}};
    const bool last = report.round == config.run.rounds;
    if (last || report.round % config.run.eval_every == 0) {
      const Evaluation evaluation = run.evaluate();
      if (evaluation.examples > 0) {
        record.test_accuracy = evaluation.accuracy();
        record.test_loss = evaluation.loss;
      }
    }
    writer.append(record);
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
  fmt::print("{} after {} rounds, {} exchanged; everything is in {}\n",
             accuracy ? "test accuracy " + human_percent(accuracy) : "nothing to test with", round,
             human_bytes(bytes), folder);
}

void train(const TrainOptions& options) {
  if (options.show_settings) return print_settings();
  if (!options.resume.empty() &&
      !(options.config.file.empty() && options.out.empty() && options.init.empty())) {
    throw bad_request("--resume",
                      "takes its configuration, folder and weights from the run; only --set, --device, "
                      "--threads and --quiet go with it");
  }
  ThreadPool pool(options.threads);
  std::optional<RunWriter> writer;
  if (!options.resume.empty()) writer.emplace(RunWriter::reopen(options.resume));
  const Config config = writer ? resumed_config(options, *writer) : options.config.config();

  LocalFleet fleet = make_fleet(config, options, pool);
  Run run(config, fleet, pool);
  uint64_t bytes = 0;
  if (writer) {
    bytes = writer->restore(config, run);
  } else {
    if (!options.init.empty())
      run.set_weights(weights_from(load_safetensors(options.init), run.model(), options.init));
    writer.emplace(RunWriter::begin(options.out.empty() ? default_folder(config) : options.out, config, run));
  }

  if (!options.quiet) {
    fmt::print("{} by {} ({}): {} clients, {} a round, {} rounds, on {} with {} thread{}\n", config.model,
               config.code.family, config.server.optimizer, fleet.clients(), config.clients,
               config.run.rounds, options.device, pool.threads(), pool.threads() == 1 ? "" : "s");
    std::fflush(stdout);
  }
  Progress progress(stdout, Progress::detect(stdout, options.quiet),
                    {.rounds = config.run.rounds,
                     .start_round = run.round(),
                     .unicode = look_at_terminal(stdout).unicode,
                     .width = {}});
  const bool complete = train_rounds(config, run, *writer, progress, bytes);
  progress.finish();
  if (!options.quiet) print_result(*writer, complete, run.round());
}

}  // namespace

void add_train_command(CLI::App& program) {
  auto options = std::make_shared<TrainOptions>();
  CLI::App* command = program.add_subcommand("train", "Train one model with a fleet of clients");
  options->config.add_to(*command);
  command->add_option("--out", options->out, "folder of the run [runs/DATE-FAMILY-OPTIMIZER]")
      ->check(not_empty());
  command->add_option("--resume", options->resume, "go on with the run of this folder")->check(not_empty());
  command->add_option("--init", options->init, "start from the weights of this safetensors file")
      ->check(not_empty());
  command->add_option("--device", options->device, "what does the arithmetic: cpu or reference")
      ->capture_default_str();
  command->add_option("--threads", options->threads, "0: one per core; the result is the same for any number")
      ->check(whole_number(0, 1024));
  command->add_flag("--quiet", options->quiet, "print nothing but errors");
  command->add_flag("--settings", options->show_settings, "list every setting with its default, and stop");
  command->callback([options] { train(*options); });
}

}  // namespace subfleet::cli
