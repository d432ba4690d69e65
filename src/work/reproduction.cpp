#include "subfleet/work/reproduction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <future>
#include <set>

#include "subfleet/base/file.h"
#include "subfleet/base/stopwatch.h"
#include "subfleet/error.h"
#include "subfleet/report/reproduce_report.h"
#include "subfleet/store/run_writer.h"
#include "subfleet/trainer.h"
#include "subfleet/work/ensembles.h"

namespace subfleet {

Reproduction::Reproduction(std::vector<Experiment> experiments, std::vector<std::string> names,
                           const Options& options)
    : experiments_(std::move(experiments)),
      names_(std::move(names)),
      pool_(options.out, options.use),
      fleets_(options.device, options.threads),
      together_(options.together),
      left_(experiments_.size()) {
  if (options.use == Pool::Use::kAdd) make_folder(pool_.path() / "tables");
  for (Experiment& experiment : experiments_) settle_rates(experiment, /*must=*/false);
}

bool Reproduction::make_all(ReproductionObserver& observer, const std::function<bool()>& stop) {
  count_from(0);
  std::future<void> awake;
  if (left_.trials() > 0) awake = std::async(std::launch::async, wake_device, fleets_.device());
  for (size_t i = 0; i < experiments_.size(); ++i) {
    if (!experiments_[i].rates_from.empty()) {  // its runs are known from now on, and so are others'
      for (size_t j = i; j < experiments_.size(); ++j) settle_rates(experiments_[j], /*must=*/j == i);
      count_from(i);
    }
    if (!make(i, {observer, stop})) return false;
    const ExperimentResult result = write_table(experiments_[i]);
    put_together();
    observer.on_experiment(experiments_[i], result);
  }
  return true;
}

void Reproduction::write_tables() {
  for (const Experiment& experiment : experiments_) {
    const std::vector<Trial> trials = pool_.trials(experiment);
    if (trials.empty() || std::ranges::any_of(trials, is_finished)) write_table(experiment);
  }
  put_together();
}

std::filesystem::path Reproduction::table(const std::string& name, const char* end) const {
  return pool_.path() / "tables" / (name + end);
}

ExperimentResult Reproduction::write_table(const Experiment& experiment) {
  ExperimentResult result = experiment_result(experiment, pool_);
  write_file(table(experiment.name, ".md"), reproduce_markdown(result));
  write_file(table(experiment.name, ".json"), reproduce_json(result));
  for (const Picture& picture : reproduce_pictures(result)) {
    write_file(pool_.path() / picture.file,
               svg_file(picture.chart, {.width = 900, .plot_height = 400, .follows_reader = false}));
  }
  agreements_.emplace_back(experiment.name, subfleet::agreements(result));
  return result;
}

// The tables of this call and of earlier ones.
void Reproduction::put_together() const {
  std::string text =
      "# What came of it\n\n"
      "Beside a number of the paper, ✓: ours is the same, or the paper's number lies within our 95 % "
      "interval (Student's t over seeds, widened by half of the number's last digit), or our whole "
      "interval lies where a claim such as > 0 says, "
      "or, for a share of searches, Fisher's exact test does not tell the two apart at 5 %; ✗: it does "
      "not. In brackets: Wilson's 95 % interval of a share. The paper trained with 3,400 writers of "
      "EMNIST62.\n\n";
  std::vector<std::string> json;
  for (const std::string& name : names_) {
    if (!std::filesystem::exists(table(name, ".json"))) continue;
    text += read_file(table(name, ".md"));
    json.push_back(read_file(table(name, ".json")));
  }
  write_file(pool_.path() / kTable, text);
  write_file(pool_.path() / kResults, fmt::format("[\n{}\n]\n", fmt::join(json, ",\n")));
}

// With rates_from, every run gets its rate once the searches are done; with `must` they have to be done now.
// An experiment with another's runs also has its rates.
void Reproduction::settle_rates(Experiment& experiment, bool must) {
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
void Reproduction::count_from(size_t first) {
  std::set<std::filesystem::path> known;
  for (size_t i = first; i < experiments_.size(); ++i) {
    std::vector<Trial> trials = pool_.missing(experiments_[i]);
    std::erase_if(trials, [&](const Trial& trial) { return !known.insert(trial.path).second; });
    left_.count(i, trials);
  }
}

void Reproduction::check_data(size_t number, const std::vector<Trial>& trials) {
  for (const Trial& trial : trials) {
    try {
      fleets_.check(trial.config, /*tested=*/!trial.members.empty());
    } catch (const Error& error) {
      throw Error(error.kind(),
                  fmt::format("{}, run '{}': {}", experiments_[number].name, trial.name, error.what()));
    }
  }
}

bool Reproduction::make(size_t number, const Watch& watch) {
  std::vector<Trial> trials = pool_.missing(experiments_[number]);
  check_data(number, trials);
  // Trials with the same data stand together; an ensemble stays after its members.
  std::ranges::stable_sort(trials, {}, [](const Trial& trial) { return data_settings(trial.config); });
  while (!trials.empty()) {
    const auto group = take_group(trials, together_, together_key);
    const Stopwatch stopwatch;
    const bool whole = make(number, group, watch);
    pool_.add_time(group, stopwatch.seconds());
    done_ += group.size();
    if (!whole) return false;
  }
  return true;
}

// Trials that can be made side by side; false if they were stopped.
bool Reproduction::make(size_t number, const std::vector<Trial>& group, const Watch& watch) {
  const Trial& first = group.front();
  std::vector<uint64_t> seeds;
  for (const Trial& trial : group) seeds.push_back(trial.config.run.seed);
  const std::string title = group_title(done_, done_ + left_.trials(),
                                        fmt::format("{}: {}", experiments_[number].name, first.name), seeds);
  const uint32_t rounds = left_.begin(number, group);
  if (first.kind != ExperimentKind::kRuns)
    return search(group, {.title = title, .number = number, .expected = rounds}, watch);
  if (first.members.empty()) return train(number, group, title, watch);
  test_members(first, title, watch.observer);
  return true;
}

bool Reproduction::train(size_t number, const std::vector<Trial>& group, const std::string& title,
                         const Watch& watch) {
  std::vector<PlannedRun> runs;
  for (const Trial& trial : group) {
    runs.push_back({.config = trial.config,
                    .path = trial.path,
                    .name = fmt::format("run '{}', seed {}", trial.name, trial.config.run.seed),
                    .number = number,
                    .for_good = true});
  }
  return train_group(runs, title, {fleets_, left_.clock(), watch.observer, watch.stop});
}

bool Reproduction::search(const std::vector<Trial>& trials, const SearchGroup& group, const Watch& watch) {
  const Stopwatch stopwatch;
  const auto done = search_trials(trials, group, {fleets_, left_.clock(), watch.observer, watch.stop});
  if (!done) return false;
  left_.searched(group.number, trials.size(), done->rounds);
  watch.observer.on_searched({.title = group.title,
                              .found = done->found,
                              .seconds = stopwatch.seconds(),
                              .seconds_left = left_.clock().seconds_left()});
  return true;
}

// Tests an ensemble whose members are trained, unless one of them diverged.
void Reproduction::test_members(const Trial& ensemble, const std::string& title,
                                ReproductionObserver& observer) {
  const ModelSpec model = resolve_model(ensemble.config.model);
  std::vector<std::vector<float>> members;
  for (const Trial& member : ensemble.members) {
    if (RunWriter::is_finished(member.path)) members.push_back(RunWriter::weights(member.path, model));
  }
  std::optional<Evaluation> test;
  if (members.size() == ensemble.members.size())
    test = test_ensemble(fleets_.fleet(ensemble.config), model, members);
  save(ensemble, test);
  observer.on_ensemble(title, test);
}

}  // namespace subfleet
