#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "charts/chart.h"
#include "charts/search_chart.h"
#include "charts/text_chart.h"
#include "commands.h"
#include "interrupt.h"
#include "report/progress.h"
#include "report/terminal.h"
#include "search/candidate_runs.h"
#include "search/search_folder.h"
#include "search/search_report.h"
#include "store/session.h"
#include "subfleet/error.h"
#include "subfleet/rate_search.h"
#include "subfleet/safetensors.h"
#include "training.h"

namespace subfleet::cli {
namespace {

struct TuneCommand {
  TrainingOptions training;
  bool train = false;
};

// A search that has begun looks for one thing in one way.
Config resumed_search(const TrainingOptions& options, const Config& saved) {
  const auto tuned = [](const Config& config) {
    FixedSettings all;
    for (const Setting& s : settings(config)) {
      if (s.name.starts_with("tune.")) all.emplace(s.name, s.value);
    }
    return all;
  };
  Config config = resumed_config(options, saved);
  if (const auto name = first_difference(tuned(saved), tuned(config)))
    throw bad_request(*name, "cannot change in a search that has begun; start a new one with --out");
  return config;
}

// Shows a search step by step: what is tried, how far it is, who stops and why.
class SearchProgress {
 public:
  SearchProgress(const RateSearch& search, std::string parameter, bool quiet)
      : search_(search), parameter_(std::move(parameter)), mode_(Progress::detect(stdout, quiet)) {
    begin_step();
  }

  // After every round; `before` were the candidates that took part in it.
  void update(const std::vector<size_t>& before, double seconds) {
    if (mode_ == Progress::Mode::kQuiet) return;
    double accuracy = 0;
    uint64_t bytes = 0;
    for (const Candidate& candidate : search_.candidates()) bytes += candidate.bytes();
    for (const size_t index : before) accuracy = std::max(accuracy, search_.candidates()[index].accuracy);
    const uint32_t round = search_.candidates()[before.front()].round_count();
    bar_->update({.round = round,
                  .test_accuracy = {},
                  .train_accuracy_median = accuracy,
                  .bytes_total = bytes,
                  .seconds = seconds});
    for (const size_t index : before) {
      const Candidate& candidate = search_.candidates()[index];
      if (candidate.fate == Fate::kRunning) continue;
      bar_->note(fmt::format("  {} = {}: {} after round {}, at {}", parameter_, candidate.value,
                             fate_name(candidate.fate), round, human_percent(candidate.accuracy)));
    }
    if (search_.steps().size() > step_) begin_step();
  }

 private:
  void begin_step() {
    bar_.reset();
    if (mode_ != Progress::Mode::kQuiet) {
      std::string values;
      for (const Candidate& candidate : search_.candidates()) {
        if (candidate.step + 1 == search_.steps().size())
          values += fmt::format("{}{}", values.empty() ? "" : ", ", candidate.value);
      }
      fmt::print("step {}: {} = {}, {} rounds at most\n", search_.steps().size() - 1, parameter_, values,
                 search_.round_limit());
      std::fflush(stdout);
    }
    bar_.emplace(stdout, mode_,
                 Progress::Settings{.rounds = search_.round_limit(),
                                    .start_round = 0,
                                    .unicode = look_at_terminal(stdout).unicode,
                                    .fewest_lines = 3,
                                    .width = {}});
    step_ = search_.steps().size();
  }

  const RateSearch& search_;
  std::string parameter_;
  Progress::Mode mode_;
  std::optional<Progress> bar_;
  size_t step_ = 0;
};

// Rounds until the search is over, or until a signal, which is returned.
int run_search(RateSearch& search, CandidateRuns& runs, SearchProgress& progress) {
  const InterruptWatch watch;
  while (!search.running().empty()) {
    if (watch.interrupted()) {
      runs.checkpoint();
      return watch.signal();
    }
    const Stopwatch stopwatch;
    const std::vector<size_t> running = search.running();
    search.record(runs.next_round(search));
    runs.settle(search);
    progress.update(running, stopwatch.seconds());
  }
  return watch.signal();
}

std::string picture_of(const RateSearch& search, const std::string& parameter) {
  const Terminal terminal = look_at_terminal(stdout);
  return text_chart(rounds_over_values(search, parameter),
                    {.unicode = terminal.unicode,
                     .colour = terminal.colour,
                     .width = std::clamp<size_t>(terminal.width, 40, 70)});
}

// Goes on with the run that the search has left in its folder.
void train_winner(const TrainingOptions& options, const std::filesystem::path& folder, const Config& config,
                  OpenedFleet& opened) {
  TrainingSession session(config, *opened.fleet, opened.now, RunWriter::reopen(folder));
  say(options, fmt::format("{}, {} rounds, of which {} are done", describe(config, *opened.fleet),
                           config.run.rounds, session.run().round()));
  train_on(options, session, *opened.fleet);
}

SearchFolder begin_folder(const TrainingOptions& options, const Config& config) {
  const auto initial = options.initial();
  if (initial)  // throws if it is wrong
    weights_from(load_safetensors(*initial), resolve_model(config.model), options.init);
  const std::string kind = fmt::format("tune-{}-{}", config.code.family, config.server.optimizer);
  return SearchFolder::begin(new_folder(options, kind), config, initial);
}

void tune(const TuneCommand& command, Ranks& ranks) {
  const TrainingOptions& options = command.training;
  if (!ranks.leads()) return ranks.serve(options.threads);
  check_resume(options);
  std::optional<SearchFolder> folder;
  if (!options.resume.empty()) folder.emplace(SearchFolder::reopen(options.resume));
  Config config = folder ? resumed_search(options, folder->config()) : options.config.config();
  if (options.show_settings) return print_settings(config);
  const auto opened = open_fleet(options, config, ranks, folder ? folder->provenance() : std::nullopt);
  if (const auto initial = options.initial()) opened->now.initial = initial_weights_file(*initial);
  Fleet& fleet = *opened->fleet;
  check_fits(config, resolve_model(config.model), fleet.clients(), fleet.input(), fleet.classes());
  if (folder) folder->check_goes_on(config, opened->now);
  RateSearch search(make_search_plan(config, fleet.classes()));
  resolve_tune(config);
  if (!folder) folder.emplace(begin_folder(options, config));
  const std::filesystem::path path = folder->path();
  const std::string& parameter = config.tune.parameter;
  const std::string go_on = fmt::format("subfleet tune --resume {}", path.string());

  say(options, fmt::format("{}, {}\nsearching {} for a training accuracy of {} over {} rounds",
                           describe(config, fleet), describe(opened->now), parameter,
                           human_percent(search.plan().target), search.plan().window));
  int signal = 0;
  {
    CandidateRuns runs(config, *folder, fleet, opened->now);
    SearchProgress progress(search, parameter, options.quiet);
    signal = run_search(search, runs, progress);
  }
  folder->save(config);  // only now: what was asked for has proved to go with what is there
  folder->save(search, config);
  write_file(path / SearchFolder::kPicture, svg_file(rounds_over_values(search, parameter)));
  if (search.outcome() == RateSearch::Outcome::kSearching) {
    say(options, fmt::format("stopped in step {}; go on with: {}", search.steps().size() - 1, go_on));
    throw Stopped{signal};
  }
  say(options, fmt::format("\n{}\n{}\n{}", candidate_table(search, parameter), picture_of(search, parameter),
                           explain_cost(search)));
  const std::string what_came_of_it = explain_outcome(search, parameter);
  if (search.outcome() != RateSearch::Outcome::kFound) throw failure(path.string(), what_came_of_it);
  say(options, what_came_of_it);
  if (!command.train || signal != 0) {
    say(options, fmt::format("everything is in {}; train with it: {} --train", path.string(), go_on));
    if (signal != 0) throw Stopped{signal};
    return;
  }
  folder->promote(search);
  folder.reset();  // whose lock the run takes over
  train_winner(options, path, candidate_config(config, search, *search.best()), *opened);
}

}  // namespace

void add_tune_command(CLI::App& program, Ranks& ranks) {
  auto options = std::make_shared<TuneCommand>();
  CLI::App* command =
      program.add_subcommand("tune", "Search for the best server learning rate, or another number");
  options->training.add_to(*command, "search", "runs/DATE-tune-FAMILY-OPTIMIZER");
  command->add_flag("--train", options->train, "then go on with the best candidate's run to run.rounds");
  command->footer(
      "The settings tune.* say what is searched, from where, and which accuracy is to be reached.");
  command->callback([options, &ranks] { tune(*options, ranks); });
}

}  // namespace subfleet::cli
