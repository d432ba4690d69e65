#include "subfleet/report/reproduce_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/format.h"
#include "report/markdown.h"
#include "report/sweep_chart.h"
#include "reproduce/predictors.h"
#include "subfleet/base/text.h"

namespace subfleet {
namespace {

using Json = nlohmann::ordered_json;
using Lines = std::vector<std::vector<std::string>>;

// One more decimal than the paper prints; four digits if the paper has no number.
std::string number_text(double number, const Claim& paper) {
  if (paper.kind != Claim::Kind::kEqual) return fmt::format("{:.4g}", number);
  const int decimals = static_cast<int>(std::lround(-std::log10(2 * paper.half_digit)));
  return fmt::format("{:.{}f}", number, decimals == 0 && number == std::round(number) ? 0 : decimals + 1);
}

std::string unit_text(const std::string& unit) { return unit == "%" ? " %" : unit; }

// The mean and its interval; two digits of the interval if the paper has no number.
std::string estimate_text(const Estimate& ours, const Claim& paper) {
  if (!ours.interval) return number_text(ours.mean, paper);
  constexpr double kRounding = 1e-9;  // equal values, summed
  const double interval = *ours.interval > kRounding ? *ours.interval : 0;
  if (paper.kind == Claim::Kind::kEqual || interval == 0)
    return fmt::format("{} ± {}", number_text(ours.mean, paper), number_text(interval, paper));
  const int decimals = std::max(0, 1 - static_cast<int>(std::floor(std::log10(interval))));
  return fmt::format("{:.{}f} ± {:.{}f}", ours.mean, decimals, interval, decimals);
}

// `seeds`: how many seeds there are, with or without a value; 0: not shown.
std::string ours_text(const ExpectedValue& value, const ReadingResult& result, size_t seeds) {
  if (!result.ours) return "-";
  std::string text = estimate_text(*result.ours, value.paper) + unit_text(value.unit);
  if (result.ours->count < seeds) text += fmt::format(", {} of {}", result.ours->count, seeds);
  if (is_share(value)) {
    const ShareInterval interval = share_interval(result.ours->mean / 100, result.ours->count);
    text += fmt::format(" ({:.0f} to {:.0f})", 100 * interval.low, 100 * interval.high);
  }
  if (result.verdict == Verdict::kAgrees) text += " ✓";
  if (result.verdict == Verdict::kDiffers) text += " ✗";
  return text;
}

std::string paper_text(const ExpectedValue& value) {
  return value.paper.kind == Claim::Kind::kNone ? "-" : value.paper.text + unit_text(value.unit);
}

bool has_claims(const Experiment& experiment) {
  return std::ranges::any_of(
      experiment.values, [](const ExpectedValue& value) { return value.paper.kind != Claim::Kind::kNone; });
}

// Of how many seeds a value is the mean; 0 if it is one value for all.
size_t seeds_of(const ExpectedValue& value, const Experiment& experiment) {
  const bool of_all = experiment.kind == ExperimentKind::kFacts || value.measure == "bytes per round saved";
  return of_all || experiment.plans.empty() ? 0 : experiment.plans[0].seeds.size();
}

Lines lines_of(const ExperimentResult& result) {
  const Experiment& experiment = *result.experiment;
  const bool compared = has_claims(experiment);
  Lines lines{{"value"}};
  if (compared) lines[0].emplace_back("paper");
  for (const std::string& reading : experiment.readings)
    lines[0].push_back(reading.empty() ? "ours" : reading);
  for (size_t i = 0; i < experiment.values.size(); ++i) {
    const ExpectedValue& value = experiment.values[i];
    auto& line = lines.emplace_back(std::vector<std::string>{value.what});
    if (compared) line.push_back(paper_text(value));
    for (const ReadingResult& reading : result.results[i])
      line.push_back(ours_text(value, reading, seeds_of(value, experiment)));
  }
  return lines;
}

// The reasons for differences that the experiment's file gives.
std::string reasons(const ExperimentResult& result) {
  std::string text;
  for (size_t i = 0; i < result.results.size(); ++i) {
    const ExpectedValue& value = result.experiment->values[i];
    const bool differs = std::ranges::any_of(
        result.results[i], [](const ReadingResult& r) { return r.verdict == Verdict::kDiffers; });
    if (differs && !value.reason.empty())
      text += fmt::format("- {}: {}\n", markdown_text(value.what), markdown_text(value.reason));
  }
  return text.empty() ? text : text + "\n";
}

std::string seeds_text(const Experiment& experiment) {
  if (experiment.plans.empty() || experiment.kind == ExperimentKind::kFacts) return {};
  const size_t seeds = experiment.plans[0].seeds.size();
  return seeds == 1 ? "One seed each. " : fmt::format("{} seeds each. ", seeds);
}

// Rounds to the target over rates, of each run: the mean over the seeds, and their spread.
Chart rates_chart(const Experiment& experiment, const Measured& measured, const std::string& title) {
  Chart chart{.title = title,
              .x_label = "server learning rate",
              .y_label = "rounds to the target",
              .y_unit = Unit::kCount,
              .log_x = true,
              .marked = true,
              .series = {}};
  for (const SweepRun& run : measured.plan->runs) {
    Series line{.name = run.name, .points = {}};
    for (const double rate : experiment.rates) {
      ExpectedValue value;
      value.measure = "rounds";
      value.run = run.name;
      value.at = rate;
      const auto rounds = measure(value, ExperimentKind::kRates, measured);
      if (!rounds) continue;
      const double x = std::pow(10, rate), half = rounds->interval.value_or(0);
      line.points.push_back({x, rounds->mean});
      line.band.push_back({x, std::max(0.0, rounds->mean - half), rounds->mean + half});
    }
    if (!line.points.empty()) chart.series.push_back(std::move(line));
  }
  return chart;
}

// Our number over the paper's for every reading, with the line on which they are equal. Empty for experiments
// with few numbers, or with shares.
Chart claims_chart(const ExperimentResult& result) {
  const Experiment& experiment = *result.experiment;
  constexpr size_t kFew = 3;
  Chart chart{.title = {},
              .x_label = "in the paper",
              .y_label = "here",
              .y_unit = Unit::kPlain,
              .marked = true,
              .points_alone = true,
              .series = {}};
  double highest = 0;
  for (size_t reading = 0; reading < experiment.readings.size(); ++reading) {
    std::multimap<double, Estimate> ours;  // by the paper's number
    for (size_t i = 0; i < experiment.values.size(); ++i) {
      const ExpectedValue& value = experiment.values[i];
      const auto& one = result.results[i][reading].ours;
      if (value.paper.kind == Claim::Kind::kEqual && !is_share(value) && one && one->interval)
        ours.emplace(value.paper.number, *one);
    }
    if (ours.size() <= kFew) continue;
    Series& points = chart.series.emplace_back(Series{.name = experiment.readings[reading], .points = {}});
    for (const auto& [number, one] : ours) {
      points.points.push_back({number, one.mean});
      points.band.push_back({number, one.mean - *one.interval, one.mean + *one.interval});
      highest = std::max(highest, number);
    }
  }
  if (!chart.series.empty())
    chart.series.push_back({.name = "equal", .points = {{0, 0}, {highest, highest}}});
  return chart;
}

// Accuracy over a property of a run's code books, with error bars.
Chart predictor_chart(const std::string& property, const Measured& measured) {
  Chart chart{.title = {},
              .x_label = fmt::format("{} of the code books", property),
              .y_label = "accuracy",
              .marked = true,
              .points_alone = true,
              .series = {}};
  double lowest = 100;
  for (const Predicted& run : predicted(property, measured)) {
    const double y = run.accuracy.mean / 100, half = run.accuracy.interval.value_or(0) / 100;
    chart.series.push_back(
        {.name = run.run, .points = {{run.property, y}}, .band = {{run.property, y - half, y + half}}});
    lowest = std::min(lowest, 100 * (y - half));
  }
  chart.y_from = std::floor(lowest) / 100;
  return chart;
}

}  // namespace

std::string reproduce_table(const ExperimentResult& result) {
  const Lines lines = lines_of(result);
  return align_table(lines, "l" + std::string(lines[0].size() - 1, 'r'));
}

std::string reproduce_markdown(const ExperimentResult& result) {
  const Experiment& experiment = *result.experiment;
  std::string text = fmt::format("## {}\n\n", markdown_text(experiment.title));
  text += fmt::format("`subfleet reproduce {}`", experiment.name);
  if (!experiment.paper.empty()) text += fmt::format(": {} of the paper", markdown_text(experiment.paper));
  text += ". " + seeds_text(experiment) + markdown_text(experiment.about) + "\n\n";
  if (!experiment.values.empty()) text += markdown_table(lines_of(result)) + "\n" + reasons(result);
  for (const Picture& picture : reproduce_pictures(result))
    text += fmt::format("![{}]({})\n\n", markdown_text(picture.title), picture.file);
  if (!result.trainers.empty()) {
    text +=
        fmt::format("Trained by {}.\n\n", markdown_text(fmt::format("{}", fmt::join(result.trainers, "; "))));
  }
  return text;
}

std::string reproduce_json(const ExperimentResult& result) {
  const auto verdict_name = [](Verdict verdict) -> Json {
    if (verdict == Verdict::kNothingToCompare) return nullptr;
    return verdict == Verdict::kAgrees ? "agrees" : "differs";
  };
  Json values = Json::array();
  for (size_t i = 0; i < result.results.size(); ++i) {
    const ExpectedValue& value = result.experiment->values[i];
    Json readings = Json::array();
    for (size_t reading = 0; reading < result.results[i].size(); ++reading) {
      const ReadingResult& one = result.results[i][reading];
      Json json = {{"reading", result.experiment->readings[reading]},
                   {"mean", nullptr},
                   {"interval", nullptr},
                   {"count", 0},
                   {"verdict", verdict_name(one.verdict)}};
      if (one.ours) {
        json["mean"] = one.ours->mean;
        json["count"] = one.ours->count;
        if (one.ours->interval) json["interval"] = *one.ours->interval;
      }
      readings.push_back(std::move(json));
    }
    Json paper = nullptr;
    if (value.paper.kind != Claim::Kind::kNone) paper = value.paper.text;
    values.push_back({{"value", value.what},
                      {"measure", value.measure},
                      {"unit", value.unit},
                      {"paper", paper},
                      {"readings", std::move(readings)}});
  }
  const Json all = {{"format", kResultFormat},           {"experiment", result.experiment->name},
                    {"title", result.experiment->title}, {"paper", result.experiment->paper},
                    {"trained_by", result.trainers},     {"values", std::move(values)}};
  return all.dump(1);
}

std::vector<Picture> reproduce_pictures(const ExperimentResult& result) {
  const Experiment& experiment = *result.experiment;
  std::vector<Picture> pictures;
  if (Chart chart = claims_chart(result); !chart.series.empty()) {
    chart.title = experiment.title;
    pictures.push_back({experiment.name + ".svg", experiment.title, std::move(chart)});
  }
  if (!experiment.runs_of.empty()) return pictures;  // that experiment has the others
  for (size_t reading = 0; reading < result.measured.size(); ++reading) {
    const Measured& measured = result.measured[reading];
    const std::string& name = experiment.readings[reading];
    const std::string title = name.empty() ? experiment.title : fmt::format("{}: {}", experiment.title, name);
    const std::string stem =
        name.empty() ? experiment.name : fmt::format("{}-{}", experiment.name, slug_of(name));
    const auto add = [&](const std::string& file, Chart chart) {
      chart.title = title;
      if (!chart.series.empty()) pictures.push_back({file, title, std::move(chart)});
    };
    if (experiment.kind == ExperimentKind::kRuns) {
      add(stem + "-rounds.svg", sweep_chart(measured.results, ChartOver::kRounds));
      add(stem + "-bytes.svg", sweep_chart(measured.results, ChartOver::kBytes));
      std::set<std::string> properties;
      for (const ExpectedValue& value : experiment.values) {
        if (value.measure == "rank correlation" && properties.insert(value.property).second)
          add(fmt::format("{}-{}.svg", stem, value.property), predictor_chart(value.property, measured));
      }
    } else if (experiment.kind == ExperimentKind::kRates) {
      add(stem + ".svg", rates_chart(experiment, measured, title));
    }
  }
  return pictures;
}

}  // namespace subfleet
