#include "subfleet/work/experiment_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "subfleet/base/file.h"
#include "subfleet/error.h"
#include "subfleet/work/model_path.h"

namespace subfleet {
namespace {

constexpr std::array kParts{"paper", "beyond"};
constexpr size_t kMostSteps = 8;  // from an experiment to what it is made from

}  // namespace

const Experiment& ExperimentLibrary::load(const std::string& name) {
  if (const auto found = loaded_.find(name); found != loaded_.end()) return found->second;
  // A file of a model is named from the folder in which the experiments are.
  const auto change = [&](Config& config, ExperimentKind kind) {
    prefer_model_in(std::filesystem::weakly_canonical(folder_).parent_path(), config);
    if (kind != ExperimentKind::kFacts) change_(config);
  };
  for (const char* part : kParts) {
    const std::filesystem::path file = folder_ / part / (name + ".toml");
    if (!std::filesystem::exists(file)) continue;
    return loaded_.emplace(name, parse_experiment(read_file(file, kMostTextBytes), name, change))
        .first->second;
  }
  throw unknown_name("experiment", name, names());
}

void ExperimentLibrary::add(const std::string& name, std::vector<std::string>& order, size_t depth) {
  if (std::ranges::find(order, name) != order.end()) return;
  if (depth > kMostSteps) throw bad_request(name + ".toml", "is made from itself");
  const Experiment& experiment = load(name);
  for (const std::string& other : {experiment.runs_of, experiment.rates_from}) {
    if (!other.empty()) add(other, order, depth + 1);
  }
  if (!experiment.runs_of.empty()) adopt_runs(loaded_.at(name), load(experiment.runs_of));
  order.push_back(name);
}

std::vector<Experiment> ExperimentLibrary::choose(const std::vector<std::string>& what) {
  if (!std::filesystem::is_directory(folder_ / kParts[0])) {
    throw bad_request(folder_.string(),
                      "is no folder of experiments; run in the repository's folder, or say --experiments");
  }
  std::vector<std::string> order;
  for (const std::string& name : what) {
    if (name == "all" || name == "beyond") {
      for (const std::string& one : experiment_names(folder_ / (name == "all" ? kParts[0] : kParts[1])))
        add(one, order, 0);
    } else {
      add(name, order, 0);
    }
  }
  std::vector<Experiment> chosen;
  for (const std::string& name : order) chosen.push_back(loaded_.at(name));
  return chosen;
}

std::vector<std::string> ExperimentLibrary::names() const {
  std::vector<std::string> all;
  for (const char* part : kParts)
    std::ranges::copy(experiment_names(folder_ / part), std::back_inserter(all));
  return all;
}

}  // namespace subfleet
