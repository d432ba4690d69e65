#include "subfleet/reproduce/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/format.h"
#include "search/search_value.h"
#include "subfleet/base/file.h"
#include "subfleet/base/text.h"
#include "subfleet/error.h"
#include "subfleet/search/candidate_runs.h"
#include "subfleet/sweep/sweep_folder.h"

namespace subfleet {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr auto kTimes = "times.jsonl";

constexpr auto kRuns = "runs", kEnsembles = "ensembles", kSearches = "searches";
constexpr std::array kFolders{kRuns, kEnsembles, kSearches};

// What a function reads from a file's JSON; none if there is no such file. Throws Error if it is not what was
// written there.
template <typename Read>
auto load(const fs::path& path, const Read& read) -> std::optional<decltype(read(Json()))> {
  if (!fs::exists(path)) return std::nullopt;
  try {
    const Json json = Json::parse(read_file(path));
    check_result_format(json, path.string());
    return read(json);
  } catch (const Json::exception&) {
    throw bad_request(path.string(), "is damaged; remove it, and it is made again");
  }
}

// Rates are compared as people write them.
double three_digits(double log10) { return std::round(log10 * 1000) / 1000; }

FinishedSearch read_search(const Json& json) {
  FinishedSearch search;
  if (json.at("outcome") != "found") return search;
  const double best = json.at("best").get<double>();
  search.log10 = three_digits(std::log10(best));
  const Json& candidates = json.at("candidates");
  const auto winner = std::ranges::find_if(
      candidates, [&](const Json& one) { return one.at("value").get<double>() == best; });
  search.winner = {.server_lr = best,
                   .first_draw = static_cast<uint32_t>(winner - candidates.begin()) * kDrawsApart};
  search.rounds = json.at("rounds").get<uint32_t>();
  search.extra_rounds = json.at("cost").at("formula_rounds").get<double>();
  return search;
}

RateRounds read_rates(const Json& json) {
  RateRounds rates;
  for (const Json& rate : json.at("rates")) {
    const Json& rounds = rate.at("rounds");
    rates[rate.at("log10").get<double>()] =
        rounds.is_null() ? std::nullopt : std::optional(rounds.get<uint32_t>());
  }
  return rates;
}

// An ensemble as the log of a run that is tested once, after its last round.
std::vector<RoundRecord> read_ensemble(const Json& json) {
  RoundRecord record{.round = json.at("rounds").get<uint32_t>(),
                     .bytes_down = json.at("bytes_down").get<uint64_t>(),
                     .bytes_up = json.at("bytes_up").get<uint64_t>()};
  if (json.at("accuracy").is_null()) {
    record.train_loss = std::numeric_limits<double>::quiet_NaN();  // as of a run that diverged
  } else {
    record.test_accuracy = json.at("accuracy").get<double>();
  }
  return {record};
}

std::set<std::string> read_trainers(const Json& json) {
  const Json& trainers = json.at("trained_by");
  if (trainers.is_string()) return {trainers.get<std::string>()};
  return trainers.get<std::set<std::string>>();
}

// Seconds by the names of trials, each with its share of those beside which it was made. A line that cannot
// be read, the last of a machine that stopped, is left out.
std::map<std::string, double> read_times(const fs::path& path) {
  std::map<std::string, double> times;
  if (!fs::exists(path)) return times;
  std::istringstream file(read_file(path));
  for (std::string line; std::getline(file, line);) {
    try {
      const Json one = Json::parse(line);
      check_result_format(one, path.string());
      const auto names = one.at("trials").get<std::vector<std::string>>();
      const double share = one.at("seconds").get<double>() / static_cast<double>(names.size());
      for (const std::string& name : names) times[name] += share;
    } catch (const Json::exception&) {
      continue;
    }
  }
  return times;
}

// One with a run folder, not a file.
bool is_run(const Trial& trial) { return trial.kind == ExperimentKind::kRuns && trial.members.empty(); }

RoundLog log_of(const Trial& run) {
  return run.members.empty() ? finished_log(run.path, run.config.run.rounds) : load(run.path, read_ensemble);
}

// Where all clients hold the same weights, means over holders and over all are one; where they hold all of
// them, nothing is unheld.
Config config_of(const SweepPlan& plan, size_t run, uint64_t seed) {
  Config config = plan.config(run, seed);
  if (!config.code.layers.empty() || !config.code.tiers.empty()) return config;
  const bool hold_all = config.code.family == "none", hold_the_same = config.code.family == "same";
  if (hold_all || hold_the_same) config.server.mean = OptimizerOptions{}.mean;
  if (hold_all) config.server.unheld = OptimizerOptions{}.unheld;
  return config;
}

}  // namespace

Pool::Pool(const fs::path& path, Use use) : path_(path) {
  if (use == Use::kAdd) {
    for (const char* folder : kFolders) make_folder(path / folder);
    lock_.emplace(path);
  }
  for (const char* folder : kFolders) {
    std::error_code missing;
    for (const auto& entry : fs::directory_iterator(path / folder, missing)) {
      const std::string name = entry.path().filename().string();
      if (const auto settings = settings_in(name); !settings.empty())
        places_.emplace(folder + std::string(settings), entry.path());
    }
  }
}

// Where what has these settings lies, or will: the first who asks names it.
fs::path Pool::place(const char* folder, const std::string& name, const std::string& settings) const {
  return places_.try_emplace(folder + settings, path_ / folder / (name + "-" + settings)).first->second;
}

Trial Pool::trial(const Experiment& experiment, const SweepPlan& plan, size_t run, uint64_t seed) const {
  Trial trial{.kind = experiment.kind,
              .name = plan.runs[run].name,
              .config = config_of(plan, run, seed),
              .rates = experiment.rates};
  const std::string& name = plan.runs[run].slug;
  std::string settings = fmt::format("{}-{}", seed, settings_name(trial.config));
  if (trial.kind == ExperimentKind::kRuns) {
    add_members(trial, plan, run, seed);
    trial.path = trial.members.empty()
                     ? place(kRuns, name, settings)
                     : place(kEnsembles, name, fmt::format("{}-of-{}.json", settings, trial.members.size()));
    return trial;
  }
  for (const double rate : trial.rates) settings += fmt::format("_{}", rate);
  trial.path = place(kSearches, name, settings + ".json");
  return trial;
}

void Pool::add_members(Trial& ensemble, const SweepPlan& plan, size_t run, uint64_t seed) const {
  const uint32_t members = plan.runs[run].members;
  if (members == 1) return;
  for (uint32_t member = 1; member <= members; ++member) {
    const uint64_t own_seed = member_seed(seed, member);
    Trial& one = ensemble.members.emplace_back();
    one.name = ensemble.name + " (member)";
    one.config = config_of(plan, run, own_seed);
    one.path = place(kRuns, plan.runs[run].slug, fmt::format("{}-{}", own_seed, settings_name(one.config)));
  }
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
        logs[run].push_back(log_of(one));
      } else if (one.kind == ExperimentKind::kSearches) {
        all.searches[run].push_back(load(one.path, read_search));
      } else if (one.kind == ExperimentKind::kRates) {
        all.rates[run].push_back(load(one.path, read_rates));
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

std::vector<Trial> Pool::missing(const Experiment& experiment) const {
  std::vector<Trial> all;
  std::set<fs::path> known;  // two readings may not differ for a run
  const auto add = [&](const Trial& trial) {
    if (known.insert(trial.path).second && !is_finished(trial)) all.push_back(trial);
  };
  for (const Trial& trial : trials(experiment)) {
    if (is_finished(trial)) continue;
    std::ranges::for_each(trial.members, add);
    add(trial);
  }
  return all;
}

std::vector<std::string> Pool::trainers(const Experiment& experiment) const {
  std::set<std::string> trainers;
  for (const Trial& one : trials(experiment)) {
    if (is_run(one)) {
      add_trainers(one.path, trainers);
    } else if (auto found = load(one.path, read_trainers)) {
      trainers.merge(*found);
    }
  }
  return {trainers.begin(), trainers.end()};
}

void Pool::add_time(std::span<const Trial> together, double seconds) const {
  Json names = Json::array();
  for (const Trial& trial : together) names.push_back(trial.path.filename().string());
  const fs::path times = path_ / kTimes;
  const std::string before = fs::exists(times) ? read_file(times) : "";
  write_file(times,
             before + Json{{"format", kResultFormat}, {"seconds", seconds}, {"trials", names}}.dump() + "\n");
}

std::optional<double> Pool::seconds(std::span<const Experiment> experiments) const {
  const std::map<std::string, double> known = read_times(path_ / kTimes);
  std::set<fs::path> counted;
  double sum = 0;
  for (const Experiment& experiment : experiments) {
    for (const Trial& trial : trials(experiment)) {
      const auto add = [&](const Trial& one) {
        const auto found = known.find(one.path.filename().string());
        if (found != known.end() && counted.insert(one.path).second) sum += found->second;
        return found != known.end();
      };
      if (!add(trial) || !std::ranges::all_of(trial.members, add)) return std::nullopt;
    }
  }
  return sum;
}

std::string_view settings_in(std::string_view name) {
  constexpr auto kNone = std::string_view::npos;
  const auto is_all = [](std::string_view text, const char* digits) {
    return !text.empty() && text.find_first_not_of(digits) == kNone;
  };
  for (size_t dash = name.rfind('-'); dash != kNone && dash > 0; dash = name.rfind('-', dash - 1)) {
    const std::string_view hash = name.substr(dash + 1, kSettingsDigits),
                           rest = name.substr(dash + 1 + hash.size());
    const size_t before = name.rfind('-', dash - 1);
    if (hash.size() == kSettingsDigits && is_all(hash, "0123456789abcdef") && before != kNone &&
        is_all(name.substr(before + 1, dash - before - 1), "0123456789") &&
        (rest.empty() || std::string_view("_-.").find(rest.front()) != kNone))
      return name.substr(before + 1);
  }
  return {};
}

bool is_finished(const Trial& trial) {
  return is_run(trial) ? log_of(trial).has_value() : fs::exists(trial.path);
}

void save(const Trial& trial, const RateSearch& search, const std::string& trainer) {
  auto json = search_value(search, trial.config);
  json["trained_by"] = trainer;
  write_file(trial.path, json.dump() + "\n");
}

void save(const Trial& trial, std::span<const std::optional<uint32_t>> rounds, const std::string& trainer) {
  Json rates = Json::array();
  for (size_t i = 0; i < rounds.size(); ++i)
    rates.push_back({{"log10", trial.rates[i]}, {"rounds", rounds[i] ? Json(*rounds[i]) : Json(nullptr)}});
  write_file(trial.path,
             Json{{"format", kResultFormat}, {"rates", rates}, {"trained_by", trainer}}.dump() + "\n");
}

void save(const Trial& ensemble, const std::optional<Evaluation>& test) {
  nlohmann::ordered_json json{
      {"format", kResultFormat}, {"accuracy", nullptr}, {"loss", nullptr}, {"examples", 0}};
  if (test) {
    json["accuracy"] = test->accuracy();
    json["loss"] = test->mean_loss();
    json["examples"] = test->examples;
  }
  auto members = nlohmann::ordered_json::array();
  std::set<std::string> trainers;
  uint32_t rounds = 0;
  uint64_t down = 0, up = 0;
  for (const Trial& member : ensemble.members) {
    const std::vector<RoundRecord> log = log_of(member).value();
    for (const RoundRecord& record : log) {
      down += record.bytes_down;
      up += record.bytes_up;
    }
    rounds = std::max(rounds, log.back().round);
    add_trainers(member.path, trainers);
    const auto& accuracy = log.back().test_accuracy;
    members.push_back({{"seed", member.config.run.seed}, {"accuracy", accuracy ? Json(*accuracy) : Json()}});
  }
  json["rounds"] = rounds;
  json["bytes_down"] = down;
  json["bytes_up"] = up;
  json["members"] = members;
  json["trained_by"] = trainers;
  write_file(ensemble.path, json.dump() + "\n");
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
      const auto& by_seed = found.searches[static_cast<size_t>(searched - runs.begin())];
      std::map<double, size_t> votes;
      for (size_t seed = 0; seed < by_seed.size(); ++seed) {
        const auto& search = by_seed[seed];
        if (!search || !search->log10) continue;
        ++votes[*search->log10];
        if (experiment.go_on) run.winners[found.plan->seeds[seed]] = search->winner;
      }
      if (votes.empty()) return false;
      const auto most = std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; });
      run.config.server.lr = number_in(fmt::format("{:.4g}", std::pow(10, most->first)));
    }
  }
  return true;
}

}  // namespace subfleet
