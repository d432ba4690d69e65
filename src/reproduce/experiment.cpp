#include "subfleet/reproduce/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/hash.h"
#include "base/toml_text.h"
#include "model/ensemble.h"
#include "reproduce/facts.h"
#include "reproduce/predictors.h"
#include "subfleet/base/text.h"
#include "subfleet/error.h"
#include "subfleet/reproduce/measures.h"
#include "sweep/plan_table.h"

namespace subfleet {
namespace {

const std::vector<std::pair<std::string, ExperimentKind>>& kinds() {
  static const std::vector<std::pair<std::string, ExperimentKind>> table{
      {"runs", ExperimentKind::kRuns},
      {"searches", ExperimentKind::kSearches},
      {"rates", ExperimentKind::kRates},
      {"facts", ExperimentKind::kFacts}};
  return table;
}

// The keys of an experiment that a sweep has not.
const std::vector<std::string> kOwnKeys{"paper",      "about", "kind",    "rates", "runs_of",
                                        "rates_from", "rate",  "reading", "value"};

std::string text_of(const toml::table& table, const char* key) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return {};
  const auto text = node->value_exact<std::string>();
  if (!text || text->empty()) throw bad_request(key, "must be a text");
  return *text;
}

ExperimentKind kind_of(const toml::table& file) {
  const std::string name = text_of(file, "kind");
  if (name.empty()) return ExperimentKind::kRuns;
  std::vector<std::string> known;
  for (const auto& [text, kind] : kinds()) {
    if (text == name) return kind;
    known.push_back(text);
  }
  throw unknown_name("kind", name, known);
}

// Whether runs with rates_from go on from their searches.
bool goes_on(const toml::table& file, const Experiment& experiment) {
  const std::vector<std::string> known{"own", "most often"};
  const std::string whose = text_of(file, "rate");
  if (whose.empty()) return true;
  if (experiment.rates_from.empty())
    throw bad_request("rate", "says which rate of rates_from, which is not there");
  if (std::ranges::find(known, whose) == known.end()) throw unknown_name("rate", whose, known);
  return whose == "own";
}

std::vector<double> numbers_of(const toml::table& table, const char* key) {
  std::vector<double> numbers;
  const toml::node* node = table.get(key);
  if (node == nullptr) return numbers;
  const auto add = [&](const toml::node& item) {
    if (!item.is_number()) throw bad_request(key, "must be a number, or a list of numbers");
    numbers.push_back(*item.value<double>());
  };
  if (const toml::array* list = node->as_array()) {
    for (const toml::node& item : *list) add(item);
  } else {
    add(*node);
  }
  return numbers;
}

// A text or a number, or a list of them, as written.
std::vector<std::string> texts_of(const toml::table& table, const char* key) {
  std::vector<std::string> texts;
  const toml::node* node = table.get(key);
  if (node == nullptr) return texts;
  if (const toml::array* list = node->as_array()) {
    for (const toml::node& item : *list) texts.push_back(value_text(item));
  } else {
    texts.push_back(value_text(*node));
  }
  return texts;
}

const toml::array* tables_of(const toml::table& file, const char* key) {
  const toml::node* node = file.get(key);
  if (node == nullptr) return nullptr;
  const toml::array* list = node->as_array();
  if (list == nullptr || !list->is_array_of_tables())
    throw bad_request(key, fmt::format("write [[{}]] for each", key));
  return list;
}

// The values of one [[value]]: one for each `at`.
void add_values(const toml::table& table, std::vector<ExpectedValue>& values) {
  check_keys(table, "key of a value",
             {"what", "measure", "run", "of", "layer", "property", "without", "at", "unit", "paper",
              "paper_trials", "reason"});
  ExpectedValue value;
  value.what = text_of(table, "what");
  value.measure = text_of(table, "measure");
  value.run = text_of(table, "run");
  value.of = text_of(table, "of");
  value.layer = text_of(table, "layer");
  value.property = text_of(table, "property");
  value.unit = text_of(table, "unit");
  value.without = texts_of(table, "without");
  value.reason = text_of(table, "reason");
  const std::vector<double> trials = numbers_of(table, "paper_trials");
  if (!trials.empty()) {
    if (trials.size() > 1 || !(trials[0] >= 1) || trials[0] != std::round(trials[0]))
      throw bad_request("paper_trials", "must be a whole number, at least 1");
    value.paper_trials = static_cast<uint32_t>(trials[0]);
  }
  if (value.measure.empty()) throw bad_request("value", "every [[value]] needs a measure");
  if (value.what.empty()) value.what = value.run;
  const std::vector<double> places = numbers_of(table, "at");
  const std::vector<std::string> claims = texts_of(table, "paper");
  const size_t count = std::max<size_t>(1, places.size());
  if (!claims.empty() && claims.size() != count) throw bad_request("paper", "needs as many numbers as 'at'");
  for (size_t i = 0; i < count; ++i) {
    ExpectedValue& one = values.emplace_back(value);
    if (!places.empty()) one.at = places[i];
    if (places.size() > 1) one.what += fmt::format(", {}", places[i]);
    if (!claims.empty()) one.paper = parse_claim(claims[i]);
  }
}

struct Reading {
  std::string name;
  std::vector<std::pair<std::string, std::string>> settings;
};

std::vector<Reading> readings_of(const toml::table& file) {
  const toml::array* list = tables_of(file, "reading");
  if (list == nullptr) return {{}};
  std::vector<Reading> readings;
  for (const toml::node& item : *list) {
    const toml::table& table = *item.as_table();
    check_keys(table, "key of a reading", {"name", "settings"});
    Reading& reading = readings.emplace_back(Reading{text_of(table, "name"), {}});
    if (reading.name.empty()) throw bad_request("reading", "every [[reading]] needs a name");
    if (const toml::table* settings = table["settings"].as_table()) {
      for_each_value(*settings, [&](const std::string& key, const toml::node& value) {
        reading.settings.emplace_back(key, value_text(value));
      });
    }
  }
  return readings;
}

constexpr uint64_t kSeedsPerMember = 1'000'000;

// That what has members can be an ensemble.
void check_ensembles(const Experiment& experiment) {
  for (const SweepPlan& plan : experiment.plans) {
    for (const SweepRun& run : plan.runs) {
      if (run.members == 1) continue;
      const auto fault = [&](const std::string& what) {
        return bad_request(experiment.name + ".toml",
                           fmt::format("run '{}': members: {}", one_line(run.name), what));
      };
      if (experiment.kind != ExperimentKind::kRuns)
        throw fault("only runs can be an ensemble's; leave it out, or make kind = \"runs\"");
      if (std::ranges::max(plan.seeds) >= kSeedsPerMember) {
        throw fault(fmt::format("their seeds are made from the list 'seeds', which must be below {}",
                                kSeedsPerMember));
      }
    }
  }
}

// That every value has a measure of the experiment's kind, and runs that there are.
void check_values(const Experiment& experiment) {
  const bool facts = experiment.kind == ExperimentKind::kFacts;
  const std::vector<std::string> measures = facts ? fact_names() : measure_names(experiment.kind);
  std::vector<std::string> runs;
  for (const SweepRun& run : experiment.plans[0].runs) runs.push_back(run.name);
  const auto check = [&](const char* what, const std::string& name, const std::vector<std::string>& known) {
    if (std::ranges::find(known, name) == known.end())
      throw bad_request(experiment.name + ".toml", unknown_name(what, name, known).what());
  };
  for (const ExpectedValue& value : experiment.values) {
    check("measure", value.measure, measures);
    for (const std::string& run : {value.run, value.of}) {
      if (!run.empty()) check("run", run, runs);
    }
    for (const std::string& run : value.without) check("run", run, runs);
    check("unit", value.unit, {"", "%", "x"});
    if (value.measure == "rank correlation") check("property", value.property, property_names());
    if (facts) continue;
    if (const std::string key = missing_key(value, experiment.kind); !key.empty()) {
      throw bad_request(experiment.name + ".toml",
                        fmt::format("measure '{}' needs '{}'", value.measure, key));
    }
  }
}

// The file without what is an experiment's own: a sweep file.
toml::table as_sweep(toml::table file, ExperimentKind kind) {
  for (const std::string& key : kOwnKeys) file.erase(key);
  if (kind == ExperimentKind::kFacts) file.insert_or_assign("seeds", toml::array{0});
  return file;
}

}  // namespace

Claim parse_claim(const std::string& text) {
  Claim claim{.kind = Claim::Kind::kEqual, .text = text};
  std::string_view number = text;
  if (number.starts_with("<") || number.starts_with(">")) {
    claim.kind = number.front() == '<' ? Claim::Kind::kBelow : Claim::Kind::kAbove;
    number.remove_prefix(1);
    while (number.starts_with(" ")) number.remove_prefix(1);
  }
  const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), claim.number);
  if (code != std::errc() || end != number.data() + number.size())
    throw bad_request("paper", fmt::format("'{}' is no number, nor one behind < or >", one_line(text)));
  const size_t point = number.find('.');
  const size_t digits = point == std::string_view::npos ? 0 : number.size() - point - 1;
  claim.half_digit = 0.5 * std::pow(10, -static_cast<double>(digits));
  return claim;
}

Experiment parse_experiment(std::string_view text, const std::string& name,
                            const std::function<void(Config&, ExperimentKind)>& change) {
  const std::string source = name + ".toml";
  toml::table file = parse_toml(text, source);
  Experiment experiment;
  experiment.name = name;
  std::vector<Reading> readings;
  try {
    experiment.title = text_of(file, "title");
    experiment.paper = text_of(file, "paper");
    experiment.about = text_of(file, "about");
    experiment.kind = kind_of(file);
    experiment.rates = numbers_of(file, "rates");
    experiment.runs_of = text_of(file, "runs_of");
    experiment.rates_from = text_of(file, "rates_from");
    experiment.go_on = goes_on(file, experiment);
    if ((experiment.kind == ExperimentKind::kRates) != !experiment.rates.empty() &&
        experiment.runs_of.empty())
      throw bad_request("rates", "are what kind = \"rates\" needs, and no other");
    readings = readings_of(file);
    if (const toml::array* list = tables_of(file, "value")) {
      for (const toml::node& item : *list) add_values(*item.as_table(), experiment.values);
    }
    if (!experiment.runs_of.empty()) {
      std::vector<std::string> known = kOwnKeys;
      known.emplace_back("title");
      check_keys(file, "key of an experiment with runs_of", known);
    }
  } catch (const Error& error) {
    throw bad_request(source, error.what());
  }
  const toml::table sweep = as_sweep(std::move(file), experiment.kind);
  for (const Reading& reading : readings) {
    experiment.readings.push_back(reading.name);
    if (!experiment.runs_of.empty()) continue;
    experiment.plans.push_back(read_sweep(sweep, source, [&](Config& config) {
      for (const auto& [key, value] : reading.settings) set(config, key, value);
      change(config, experiment.kind);
    }));
  }
  if (experiment.runs_of.empty()) {
    check_ensembles(experiment);
    check_values(experiment);
  }
  return experiment;
}

void adopt_runs(Experiment& experiment, const Experiment& other) {
  experiment.kind = other.kind;
  experiment.rates = other.rates;
  experiment.readings = other.readings;
  experiment.plans = other.plans;
  check_values(experiment);
}

std::vector<std::string> experiment_names(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(folder, code)) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

uint64_t member_seed(uint64_t seed, uint32_t member) { return member * kSeedsPerMember + seed; }

std::string settings_name(const Config& config) {
  Hash hash;
  for (const Setting& setting : settings(config)) {
    if (setting.name == "data.path" || setting.name == "model.file" || setting.name == "run.checkpoint_every")
      continue;
    hash.add(setting.name).add(setting.value);
  }
  const std::filesystem::path data = (std::filesystem::path(config.data.path) / "").parent_path();
  if (!data.empty()) hash.add(data.filename().string());
  hash.add(model_toml(resolve_model(config.model)));
  return fmt::format("{:016x}", hash.value()).substr(0, kSettingsDigits);
}

}  // namespace subfleet
