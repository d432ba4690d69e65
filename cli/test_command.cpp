#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "checks.h"
#include "commands.h"
#include "config_options.h"
#include "device_options.h"
#include "help.h"
#include "run_folders.h"
#include "subfleet/base/text.h"
#include "subfleet/error.h"
#include "subfleet/store/run_folder.h"
#include "subfleet/thread_pool.h"
#include "subfleet/work/ensembles.h"

namespace subfleet::cli {
namespace {

using Json = nlohmann::ordered_json;

struct TestOptions {
  std::vector<std::filesystem::path> folders;
  ConfigOptions config;  // its --set alone
  DeviceOptions device;
  size_t threads = 0;
  bool alone = false;
  bool json = false;
};

// Only what a test depends on may be set.
void check_sets(const std::vector<std::string>& sets) {
  for (const std::string& assignment : sets) {
    if (assignment.starts_with("data.") || assignment.starts_with("run.eval_samples=")) continue;
    throw bad_request(
        "--set",
        fmt::format("'{}': a model is tested with other data.* and run.eval_samples at most", assignment));
  }
}

std::vector<TrainedModel> load(const TestOptions& options) {
  std::vector<TrainedModel> all;
  for (const RunSummary& run : load_runs(without_files(options.folders)))
    all.push_back(trained_model(run, options.config.changes()));
  return all;
}

// A line if the members of an ensemble were not trained for as many rounds.
void print_rounds(const std::vector<TrainedModel>& runs, const JoinedModels& joined) {
  std::set<uint32_t> rounds;
  for (const size_t i : joined.members) rounds.insert(runs[i].round);
  if (rounds.size() < 2) return;
  fmt::print("the ensemble of {} joins models of different rounds: {}\n", joined.members.size(),
             fmt::join(rounds, ", "));
}

void print_table(const std::vector<TrainedModel>& runs, const std::vector<JoinedModels>& ensembles) {
  std::vector<std::vector<std::string>> lines{{"run", "model", "accuracy", "loss", "examples"}};
  const auto add = [&](const std::string& name, const ModelSpec& model, const Evaluation& score) {
    lines.push_back({name, model.name, human_percent(score.accuracy()),
                     fmt::format("{:.4f}", score.mean_loss()), fmt::format("{}", score.examples)});
  };
  for (const TrainedModel& run : runs) add(run.name, run.model, run.score);
  for (const JoinedModels& joined : ensembles) {
    add(fmt::format("ensemble of {}", joined.members.size()), runs[joined.members.front()].model,
        joined.score);
  }
  fmt::print("{}", align_table(lines, "llrrr"));
  for (const JoinedModels& joined : ensembles) print_rounds(runs, joined);
}

Json score_json(const Evaluation& score) {
  return {{"accuracy", score.accuracy()}, {"loss", score.mean_loss()}, {"examples", score.examples}};
}

void print_json(const std::vector<TrainedModel>& runs, const std::vector<JoinedModels>& ensembles) {
  Json result{{"runs", Json::array()}, {"ensembles", Json::array()}};
  for (const TrainedModel& run : runs) {
    Json line{{"run", run.name},
              {"model", run.model.name},
              {"round", run.round},
              {"parameters", run.weights.size()}};
    line.update(score_json(run.score));
    result["runs"].push_back(line);
  }
  for (const JoinedModels& joined : ensembles) {
    const TrainedModel& member = runs[joined.members.front()];
    Json line{{"runs", Json::array()},
              {"model", member.model.name},
              {"parameters", joined.members.size() * member.weights.size()}};
    for (const size_t i : joined.members) line["runs"].push_back(runs[i].name);
    line.update(score_json(joined.score));
    result["ensembles"].push_back(line);
  }
  fmt::print("{}\n", result.dump(2, ' ', false, Json::error_handler_t::replace));
}

void run(const TestOptions& options) {
  check_sets(options.config.sets);
  const std::string device = options.device.trainer("cpu");
  std::vector<TrainedModel> runs = load(options);
  std::vector<JoinedModels> ensembles;
  if (!options.alone) ensembles = join_models(runs);
  ThreadPool pool(options.threads);
  test_all(runs, ensembles, device, pool);
  options.json ? print_json(runs, ensembles) : print_table(runs, ensembles);
}

}  // namespace

void add_test_command(CLI::App& program) {
  auto options = std::make_shared<TestOptions>();
  CLI::App* command = program.add_subcommand(
      "test", "Test the trained models of runs, and the ensemble of those with the same model");
  command->add_option("FOLDER", options->folders, "run folders; plain files among them are left out")
      ->required();
  options->config.add_set_to(*command,
                             "data.* or run.eval_samples instead of what the runs have; may be given again");
  options->device.add_to(*command, "cpu");
  command->add_option("--threads", options->threads, "0: one per core; the result is the same for any number")
      ->check(whole_number(0, 1024));
  command->add_flag("--alone", options->alone, "test no ensembles, which take more memory than their models");
  command->add_flag("--json", options->json, "print one JSON value");
  command->footer(
      footer("Each run is tested with its own data and number of examples. Runs with the same\n"
             "model and data are also tested as an ensemble, which answers with the mean of its\n"
             "members' logits.",
             {"subfleet test runs/first", "subfleet test runs/bytes/* --json"}));
  command->callback([options] { run(*options); });
}

}  // namespace subfleet::cli
