#include "subfleet/report/sweep_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "report/markdown.h"
#include "subfleet/base/text.h"
#include "subfleet/report/table.h"

namespace subfleet {
namespace {

using Json = nlohmann::ordered_json;
using Lines = std::vector<std::vector<std::string>>;

std::string interval_text(const std::optional<double>& interval) {
  return interval ? fmt::format(" ± {:.2f}", 100 * *interval) : "";
}

// "84.02 ± 0.15", in percent.
std::string percent_text(const std::optional<Estimate>& accuracy) {
  return accuracy ? fmt::format("{:.2f}{}", 100 * accuracy->mean, interval_text(accuracy->interval)) : "-";
}

std::string difference_text(const std::optional<Estimate>& difference) {
  return difference ? fmt::format("{:+.2f}{}", 100 * difference->mean, interval_text(difference->interval))
                    : "-";
}

// "7.91x fewer" bytes than the baseline, or "1.20x more".
std::string times_text(const std::optional<double>& times_fewer) {
  return times_fewer ? ratio_text(1 / *times_fewer) : "-";
}

std::string seeds_text(const RunResult& run) {
  const auto diverged = std::ranges::count_if(run.seeds, &SeedResult::diverged);
  return diverged == 0 ? fmt::format("{}", run.seeds.size())
                       : fmt::format("{}, {} diverged", run.seeds.size(), diverged);
}

Lines lines_of(const SweepResults& results) {
  const bool compared = results.baseline.has_value();
  Lines lines{{"run", "seeds", "accuracy %", "bytes per round"}};
  if (compared) {
    lines[0] = {"run",
                "seeds",
                "accuracy %",
                "difference",
                "bytes/round",
                "than baseline",
                fmt::format("bytes to {}x baseline", results.target),
                "than it",
                "reached"};
  }
  for (const RunResult& run : results.runs) {
    if (run.seeds.empty()) continue;
    const std::string bytes = human_bytes(run.bytes_per_round);
    auto& line =
        lines.emplace_back(std::vector<std::string>{run.name, seeds_text(run), percent_text(run.accuracy)});
    if (!compared) {
      line.push_back(bytes);
      continue;
    }
    const bool is_baseline = &run == &results.runs[*results.baseline];
    line.push_back(is_baseline ? "-" : difference_text(run.difference));
    line.push_back(bytes);
    line.push_back(is_baseline ? "-" : times_text(run.times_fewer));
    line.push_back(run.bytes_to_target ? human_bytes(run.bytes_to_target->mean) : "-");
    line.push_back(is_baseline ? "-" : times_text(run.target_times_fewer));
    line.push_back(run.targets == 0 ? "-" : fmt::format("{} of {}", run.reached, run.targets));
  }
  return lines;
}

std::string explain(const SweepResults& results) {
  std::string text = fmt::format(
      "Accuracy: the mean of all tests in the last {}, then over seeds, ± its 95 % interval (Student's t). "
      "Bytes are counted in both directions.",
      results.last_rounds ? fmt::format("{} rounds", *results.last_rounds) : "quarter of the rounds");
  if (!results.baseline) return text;
  return text + fmt::format(
                    " Differences are those to `{0}` with the same seed, in percentage points. Bytes to {1}x "
                    "baseline: exchanged until the mean of five tests is {1} times the accuracy of `{0}` "
                    "with the same "
                    "seed, in the mean over the seeds that reached it.",
                    results.runs[*results.baseline].name, results.target);
}

Json estimate_json(const std::optional<Estimate>& value) {
  if (!value) return nullptr;
  Json json = {{"mean", value->mean}, {"interval", nullptr}, {"count", value->count}};
  if (value->interval) json["interval"] = *value->interval;
  return json;
}

template <typename Value>
Json value_or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// [round, bytes, accuracy] of some of the tests, the last one among them.
Json curve_json(const std::vector<SmoothedTest>& tests) {
  constexpr size_t kMostPoints = 50;
  constexpr double kDigits = 1e5;
  const size_t stride = (tests.size() + kMostPoints - 1) / kMostPoints;
  Json curve = Json::array();
  for (size_t i = 0; i < tests.size(); ++i) {
    if ((tests.size() - 1 - i) % stride != 0) continue;
    const SmoothedTest& test = tests[i];
    curve.push_back({test.round, test.bytes, std::round(test.accuracy * kDigits) / kDigits});
  }
  return curve;
}

Json run_json(const RunResult& run) {
  Json seeds = Json::array();
  for (const SeedResult& seed : run.seeds) {
    seeds.push_back({{"seed", seed.seed},
                     {"diverged", seed.diverged},
                     {"rounds", seed.rounds},
                     {"bytes", seed.bytes},
                     {"accuracy", value_or_null(seed.accuracy)},
                     {"target", value_or_null(seed.target)},
                     {"bytes_to_target", value_or_null(seed.bytes_to_target)},
                     {"curve", curve_json(seed.tests)}});
  }
  return {{"run", run.name},
          {"accuracy", estimate_json(run.accuracy)},
          {"difference", estimate_json(run.difference)},
          {"bytes_per_round", run.bytes_per_round},
          {"times_fewer", value_or_null(run.times_fewer)},
          {"targets", run.targets},
          {"reached", run.reached},
          {"bytes_to_target", estimate_json(run.bytes_to_target)},
          {"target_times_fewer", value_or_null(run.target_times_fewer)},
          {"seeds", std::move(seeds)}};
}

}  // namespace

std::string sweep_table(const SweepResults& results) {
  const Lines lines = lines_of(results);
  return align_table(lines, "l" + std::string(lines[0].size() - 1, 'r'));
}

std::string sweep_markdown(const SweepResults& results) {
  std::string trainers;
  for (const std::string& trainer : results.trainers) trainers += (trainers.empty() ? "" : "; ") + trainer;
  return fmt::format("# {}\n\n{}\n{}\n\nTrained by {}.\n", markdown_text(results.title),
                     markdown_table(lines_of(results)), markdown_text(explain(results)),
                     markdown_text(trainers));
}

std::string sweep_json(const SweepResults& results) {
  Json json = {{"format", kResultFormat},        {"title", results.title},
               {"trained_by", results.trainers}, {"baseline", nullptr},
               {"target", results.target},       {"last_rounds", value_or_null(results.last_rounds)},
               {"runs", Json::array()}};
  if (results.baseline) json["baseline"] = results.runs[*results.baseline].name;
  for (const RunResult& run : results.runs) json["runs"].push_back(run_json(run));
  return json.dump() + "\n";
}

}  // namespace subfleet
