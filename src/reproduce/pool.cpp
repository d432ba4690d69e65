#include "reproduce/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "search/search_report.h"
#include "subfleet/error.h"
#include "sweep/sweep_folder.h"

namespace subfleet {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

fs::path made(const fs::path& folder) {
  for (const char* part : {"runs", "searches"}) make_folder(folder / part);
  return folder;
}

// None if there is no such file, or it is not what was written there.
std::optional<Json> load_json(const fs::path& path) {
  if (!fs::exists(path)) return std::nullopt;
  Json json = Json::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) throw bad_request(path.string(), "is damaged; remove it, and it is made again");
  return json;
}

// Rates are compared as people write them.
double three_digits(double log10) { return std::round(log10 * 1000) / 1000; }

std::optional<FinishedSearch> load_search(const fs::path& path) {
  const auto json = load_json(path);
  if (!json) return std::nullopt;
  FinishedSearch search;
  try {
    if (json->at("outcome") == "found") {
      search.log10 = three_digits(std::log10(json->at("best").get<double>()));
      search.rounds = json->at("rounds").get<uint32_t>();
      search.extra_rounds = json->at("cost").at("formula_rounds").get<double>();
    }
  } catch (const Json::exception&) {
    throw bad_request(path.string(), "is damaged; remove it, and it is made again");
  }
  return search;
}

std::optional<RateRounds> load_rates(const fs::path& path) {
  const auto json = load_json(path);
  if (!json) return std::nullopt;
  RateRounds rates;
  try {
    for (const Json& rate : json->at("rates")) {
      const Json& rounds = rate.at("rounds");
      rates[rate.at("log10").get<double>()] =
          rounds.is_null() ? std::nullopt : std::optional(rounds.get<uint32_t>());
    }
  } catch (const Json::exception&) {
    throw bad_request(path.string(), "is damaged; remove it, and it is made again");
  }
  return rates;
}

}  // namespace

Pool::Pool(const fs::path& path) : path_(made(path)), lock_(path_) {}

Trial Pool::trial(const Experiment& experiment, const SweepPlan& plan, size_t run, uint64_t seed) const {
  Trial trial{.kind = experiment.kind,
              .name = plan.runs[run].name,
              .config = plan.config(run, seed),
              .rates = experiment.rates};
  std::string name = plan.folder(run, seed) + "-" + settings_name(trial.config);
  if (trial.kind == ExperimentKind::kRuns) {
    trial.path = path_ / "runs" / name;
    return trial;
  }
  for (const double rate : trial.rates) name += fmt::format("_{}", rate);
  trial.path = path_ / "searches" / (name + ".json");
  return trial;
}

Measured Pool::measured(const Experiment& experiment, size_t reading) const {
  const SweepPlan& plan = experiment.plans[reading];
  Measured all;
  all.plan = &plan;
  std::vector<std::vector<RoundLog>> logs(plan.runs.size());
  all.searches.resize(plan.runs.size());
  all.rates.resize(plan.runs.size());
  for (size_t run = 0; run < plan.runs.size(); ++run) {
    for (const uint64_t seed : plan.seeds) {
      const Trial one = trial(experiment, plan, run, seed);
      if (one.kind == ExperimentKind::kRuns) {
        logs[run].push_back(finished_log(one.path, one.config.run.rounds));
      } else if (one.kind == ExperimentKind::kSearches) {
        all.searches[run].push_back(load_search(one.path));
      } else if (one.kind == ExperimentKind::kRates) {
        all.rates[run].push_back(load_rates(one.path));
      }
    }
  }
  if (experiment.kind == ExperimentKind::kRuns) all.results = sweep_results(plan, logs);
  return all;
}

std::vector<Trial> Pool::trials(const Experiment& experiment) const {
  std::vector<Trial> all;
  if (experiment.kind == ExperimentKind::kFacts) return all;
  for (const SweepPlan& plan : experiment.plans) {
    for (const uint64_t seed : plan.seeds) {
      for (size_t run = 0; run < plan.runs.size(); ++run) all.push_back(trial(experiment, plan, run, seed));
    }
  }
  return all;
}

std::vector<std::string> Pool::trainers(const Experiment& experiment) const {
  std::set<std::string> trainers;
  for (const Trial& one : trials(experiment)) {
    if (one.kind == ExperimentKind::kRuns) {
      add_trainers(one.path, trainers);
    } else if (const auto json = load_json(one.path)) {
      trainers.insert(json->value("trained_by", ""));
    }
  }
  trainers.erase("");
  return {trainers.begin(), trainers.end()};
}

bool is_finished(const Trial& trial) {
  return trial.kind == ExperimentKind::kRuns ? finished_log(trial.path, trial.config.run.rounds).has_value()
                                             : fs::exists(trial.path);
}

void save(const Trial& trial, const RateSearch& search, const std::string& trainer) {
  auto json = nlohmann::ordered_json::parse(search_json(search, trial.config));
  json["trained_by"] = trainer;
  write_file(trial.path, json.dump() + "\n");
}

void save(const Trial& trial, std::span<const RoundsToTarget> rounds, const std::string& trainer) {
  Json rates = Json::array();
  for (size_t i = 0; i < rounds.size(); ++i) {
    rates.push_back({{"log10", trial.rates[i]},
                     {"value", rounds[i].value},
                     {"rounds", rounds[i].rounds ? Json(*rounds[i].rounds) : Json(nullptr)}});
  }
  write_file(trial.path, Json{{"rates", rates}, {"trained_by", trainer}}.dump() + "\n");
}

bool take_rates(Experiment& experiment, const Experiment& searches, const Pool& pool) {
  for (size_t reading = 0; reading < experiment.readings.size(); ++reading) {
    const auto same = std::ranges::find(searches.readings, experiment.readings[reading]);
    if (same == searches.readings.end()) {
      throw bad_request(experiment.name + ".toml", fmt::format("{} has no reading '{}' to take rates from",
                                                               searches.name, experiment.readings[reading]));
    }
    const auto number = static_cast<size_t>(same - searches.readings.begin());
    const Measured found = pool.measured(searches, number);
    for (SweepRun& run : experiment.plans[reading].runs) {
      const auto& runs = found.plan->runs;
      const auto searched = std::ranges::find(runs, run.name, &SweepRun::name);
      if (searched == runs.end()) {
        throw bad_request(experiment.name + ".toml",
                          fmt::format("{} has no run '{}' to take a rate from", searches.name, run.name));
      }
      std::map<double, size_t> votes;
      for (const auto& search : found.searches[static_cast<size_t>(searched - runs.begin())]) {
        if (search && search->log10) ++votes[*search->log10];
      }
      if (votes.empty()) return false;
      const auto most = std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; });
      run.config.server.lr = std::stod(fmt::format("{:.4g}", std::pow(10, most->first)));
    }
  }
  return true;
}

}  // namespace subfleet
