#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "commands.h"
#include "help.h"
#include "interrupt.h"
#include "subfleet/base/path_name.h"
#include "subfleet/base/text.h"
#include "subfleet/charts/chart.h"
#include "subfleet/charts/search_chart.h"
#include "subfleet/charts/text_chart.h"
#include "subfleet/error.h"
#include "subfleet/rate_search.h"
#include "subfleet/report/progress.h"
#include "subfleet/report/terminal.h"
#include "subfleet/search/search_folder.h"
#include "subfleet/search/search_report.h"
#include "subfleet/work/search_session.h"
#include "training.h"

namespace subfleet::cli {
namespace {

struct TuneCommand {
  TrainingOptions training;
  bool train = false;
};

// Shows a search step by step: what is tried, how far it is, who stops and why.
class SearchProgress final : public SearchObserver {
 public:
  SearchProgress(std::string parameter, bool quiet)
      : parameter_(std::move(parameter)), mode_(Progress::detect(stdout, quiet)) {}

  void on_step(const RateSearch& search) override {
    bar_.reset();
    if (mode_ != Progress::Mode::kQuiet) {
      std::string values;
      for (const size_t index : search.running())
        values += fmt::format("{}{}", values.empty() ? "" : ", ", search.candidates()[index].value);
      fmt::print("step {}: {} = {}, {} at most\n", search.steps().size() - 1, parameter_, values,
                 counted(search.round_limit(), "round"));
      std::fflush(stdout);
    }
    bar_.emplace(stdout, mode_,
                 Progress::Settings{.rounds = search.round_limit(),
                                    .start_round = 0,
                                    .unicode = look_at_terminal(stdout).unicode,
                                    .fewest_lines = 3,
                                    .width = {}});
  }

  void on_round(const RateSearch& search, std::span<const size_t> running, double seconds) override {
    if (mode_ == Progress::Mode::kQuiet) return;
    double accuracy = 0;
    uint64_t bytes = 0;
    for (const Candidate& candidate : search.candidates()) bytes += candidate.bytes();
    for (const size_t index : running) accuracy = std::max(accuracy, search.candidates()[index].accuracy);
    const uint32_t round = search.candidates()[running.front()].round_count();
    bar_->update({.round = round,
                  .test_accuracy = {},
                  .train_accuracy_median = accuracy,
                  .bytes_total = bytes,
                  .seconds = seconds});
    for (const size_t index : running) {
      const Candidate& candidate = search.candidates()[index];
      if (candidate.fate == Fate::kRunning) continue;
      bar_->note(fmt::format("  {} = {}: {} after round {}, at {}", parameter_, candidate.value,
                             fate_name(candidate.fate), round, human_percent(candidate.accuracy)));
    }
  }

 private:
  std::string parameter_;
  Progress::Mode mode_;
  std::optional<Progress> bar_;
};

// Searches until it is over, or until a signal, which is returned.
int run_search(SearchSession& session, bool quiet) {
  SearchProgress progress(session.config().tune.parameter, quiet);
  const InterruptWatch watch;
  session.run(progress, [&] { return watch.interrupted(); });
  return watch.signal();
}

std::string picture_of(const RateSearch& search, const std::string& parameter) {
  const Terminal terminal = look_at_terminal(stdout);
  return text_chart(search_chart(search, parameter), {.unicode = terminal.unicode,
                                                      .colour = terminal.colour,
                                                      .width = std::clamp<size_t>(terminal.width, 40, 70)});
}

// Goes on with the run that the search has left in its folder.
void train_winner(const TrainingOptions& options, SearchSession& session, const Fleet& fleet) {
  const auto winner = session.go_on_with_winner();
  const Config& config = winner->run().config();
  say(options, fmt::format("{}, {}, of which {} are done", describe(config, fleet),
                           counted(config.run.rounds, "round"), winner->run().round()));
  train_on(options, *winner, fleet);
}

void tune(const TuneCommand& command, Ranks& ranks) {
  const TrainingOptions& options = command.training;
  if (!ranks.leads()) return ranks.serve(options.threads);
  check_resume(options);
  std::optional<SearchFolder> folder;
  if (!options.resume.empty()) folder.emplace(SearchFolder::reopen(options.resume));
  const Config asked_for =
      folder ? resumed_search(folder->config(), options.config.changes()) : options.config.config();
  if (options.show_settings) return print_settings(asked_for);
  const auto opened = open_fleet(options, asked_for, ranks, folder ? folder->provenance() : std::nullopt);
  const Fleet& fleet = *opened->fleet;
  SearchSession session(asked_for, *opened->fleet, opened->now, options.initial());
  const Config& config = session.config();
  const RateSearch& search = session.search();
  if (folder) {
    session.resume(std::move(*folder));
  } else {
    session.begin(
        new_folder(options, fmt::format("tune-{}-{}", config.code.family, config.server.optimizer)));
  }
  const std::filesystem::path path = session.path();
  const std::string& parameter = config.tune.parameter;
  const std::string go_on = fmt::format("subfleet tune --resume {}", path_name(path));

  const std::string goal =
      search.plan().horizon > 0
          ? fmt::format("the end of {}", counted(search.plan().horizon, "round"))
          : fmt::format("a training accuracy of {} over {}", human_percent(search.plan().target),
                        counted(search.plan().window, "round"));
  say(options, fmt::format("{}, {}\nsearching {} for {}", describe(config, fleet), describe(opened->now),
                           parameter, goal));
  if (config.server.average > 0) {
    say(options, fmt::format("a mean of the weights is tested and saved: server.average = {:.4g}",
                             config.server.average));
  }
  const int signal = run_search(session, options.quiet);
  if (search.outcome() == RateSearch::Outcome::kSearching) {
    say(options, fmt::format("stopped in step {}; go on with: {}", search.steps().size() - 1, go_on));
    throw Stopped{signal};
  }
  say(options, fmt::format("\n{}\n{}\n{}", candidate_table(search, parameter), picture_of(search, parameter),
                           explain_cost(search)));
  const std::string what_came_of_it = explain_outcome(search, parameter);
  if (search.outcome() != RateSearch::Outcome::kFound) throw failure(path_name(path), what_came_of_it);
  say(options, what_came_of_it);
  if (!command.train || signal != 0) {
    say(options, fmt::format("everything is in {}; train with it: {} --train", path_name(path), go_on));
    if (signal != 0) throw Stopped{signal};
    return;
  }
  train_winner(options, session, fleet);
}

}  // namespace

void add_tune_command(CLI::App& program, Ranks& ranks) {
  auto options = std::make_shared<TuneCommand>();
  CLI::App* command =
      program.add_subcommand("tune", "Search for the best server learning rate, or another number");
  options->training.add_to(*command, "search", "runs/DATE-tune-FAMILY-OPTIMIZER");
  command->add_flag("--train", options->train, "then go on with the best candidate's run to run.rounds");
  command->footer(footer(
      "The settings tune.* say what is searched, from where, and which accuracy is to be reached.",
      {"subfleet tune --set server.optimizer=fedadam --train",
       "subfleet tune settings.toml --out runs/search", "subfleet tune --resume runs/search --train"}));
  command->callback([options, &ranks] { tune(*options, ranks); });
}

}  // namespace subfleet::cli
