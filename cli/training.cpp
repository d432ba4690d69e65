#include "training.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <system_error>

#include "checks.h"
#include "interrupt.h"
#include "subfleet/base/file.h"
#include "subfleet/base/path_name.h"
#include "subfleet/base/text.h"
#include "subfleet/error.h"
#include "subfleet/report/progress.h"
#include "subfleet/report/round_progress.h"
#include "subfleet/report/terminal.h"
#include "subfleet/results/run_measures.h"
#include "subfleet/store/run_folder.h"
#include "subfleet/store/session.h"

namespace subfleet::cli {
namespace {

void print_result(const std::filesystem::path& folder, uint32_t round, const Fleet& fleet) {
  const RunSummary summary = load_run(folder);
  const auto accuracy = final_accuracy(summary);
  const auto bytes = static_cast<double>(bytes_total(summary));
  const auto search_bytes = static_cast<double>(summary.search_bytes);
  fmt::print("{} after {}, {} exchanged{}; everything is in {}\n",
             accuracy ? "test accuracy " + human_percent(accuracy) : "nothing to test with",
             counted(round, "round"), human_bytes(bytes),
             search_bytes > 0 ? fmt::format(", {} of it in the search", human_bytes(search_bytes)) : "",
             path_name(folder));
  if (const std::string traffic = fleet.traffic(); !traffic.empty()) fmt::print("{}\n", traffic);
}

}  // namespace

void TrainingOptions::add_to(CLI::App& command, const std::string& what, const std::string& default_folder) {
  config.add_to(command);
  command.add_option("--out", out, fmt::format("folder of the {} [{}]", what, default_folder))
      ->check(not_empty())
      ->type_name("DIR");
  command.add_option("--resume", resume, fmt::format("go on with the {} of this folder", what))
      ->check(not_empty())
      ->type_name("DIR");
  command.add_option("--init", init, "start from the weights of this safetensors file")
      ->check(not_empty())
      ->type_name("FILE");
  device.add_to(command, fmt::format("cpu; of a resumed {}, what it had", what));
  command.add_option("--threads", threads, "0: one per core; the result is the same for any number")
      ->check(whole_number(0, 1024));
  command.add_flag("--quiet", quiet, "print nothing but errors");
  command.add_flag("--settings", show_settings, "list every setting with its value here, and stop");
}

std::optional<std::filesystem::path> TrainingOptions::initial() const {
  return init.empty() ? std::nullopt : std::optional<std::filesystem::path>(init);
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

std::string new_folder(const TrainingOptions& options, const std::string& kind) {
  if (!options.out.empty()) return options.out;
  const std::string name = fmt::format("runs/{:%Y%m%d-%H%M%S}-{}", fmt::localtime(std::time(nullptr)), kind);
  make_folder("runs");
  std::error_code code;
  for (int attempt = 1; attempt < 1000; ++attempt) {
    std::string folder = attempt == 1 ? name : fmt::format("{}-{}", name, attempt);
    if (std::filesystem::create_directory(folder, code)) return folder;
    if (code) break;
  }
  throw failure(name, fmt::format("the folder cannot be made ({})", code.message()));
}

std::unique_ptr<OpenedFleet> open_fleet(const TrainingOptions& options, const Config& config, Ranks& ranks,
                                        const std::optional<Provenance>& before) {
  auto opened = std::make_unique<OpenedFleet>(config, options.device.trainer(last_device(before)),
                                              options.threads, ranks, before);
  if (opened->warning) say(options, *opened->warning);
  return opened;
}

std::string describe(const Config& config, const Fleet& fleet) {
  return fmt::format("{}, {}, {}: {} clients, {} per round", resolve_model(config.model).name,
                     config.code.family == "none" ? "no dropout" : config.code.family + " codes",
                     config.server.optimizer, fleet.clients(), config.round.clients);
}

std::string describe(const Provenance& now) {
  const Provenance::Session& session = now.sessions.back();
  const std::string threads = counted(session.threads, "thread");
  if (session.ranks == 1) return fmt::format("on {} with {}", session.device, threads);
  return fmt::format("on {} with {} ranks of {}", session.device, session.ranks, threads);
}

void train_on(const TrainingOptions& options, TrainingSession& session, const Fleet& fleet) {
  const Run& run = session.run();
  const std::filesystem::path folder = session.folder().value();
  Progress progress(stdout, Progress::detect(stdout, options.quiet),
                    {.rounds = run.config().run.rounds,
                     .start_round = run.round(),
                     .unicode = look_at_terminal(stdout).unicode,
                     .width = {}});
  RoundProgress shown(progress, session.bytes());
  RoundObserver* const observer = &shown;
  const InterruptWatch watch;
  const bool complete = session.train({&observer, 1}, [&] { return watch.interrupted(); });
  progress.finish();
  if (!complete) {
    say(options, fmt::format("stopped after round {}; go on with: subfleet train --resume {}", run.round(),
                             path_name(folder)));
    throw Stopped{watch.signal()};
  }
  if (!options.quiet) print_result(folder, run.round(), fleet);
}

}  // namespace subfleet::cli
