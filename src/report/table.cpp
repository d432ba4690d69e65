#include "subfleet/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "subfleet/base/text.h"
#include "subfleet/report/differences.h"
#include "subfleet/report/run_groups.h"
#include "subfleet/results/run_measures.h"

namespace subfleet {
namespace {

using Json = nlohmann::ordered_json;

std::string bytes(uint64_t count) { return human_bytes(static_cast<double>(count)); }

template <typename Value>
Json value_or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// {"mean": ..., "interval": ...}: of 95 %, null for a single seed.
Json estimate_or_null(const std::optional<Estimate>& estimate) {
  if (!estimate) return nullptr;
  return {{"mean", estimate->mean}, {"interval", value_or_null(estimate->interval)}};
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

// A setting as JSON: numbers and lists of numbers stay, anything else becomes text.
Json json_value(const std::optional<std::string>& setting) {
  if (!setting) return nullptr;
  Json value = Json::parse(*setting, nullptr, /*allow_exceptions=*/false);
  return value.is_number() || value.is_boolean() || value.is_array() ? value : Json(*setting);
}

// The lowest figure of the runs that have one.
template <typename Figure>
auto least(std::span<const ReportedRun> runs, const Figure& figure) {
  decltype(figure(runs[0])) least;
  for (const ReportedRun& run : runs) {
    const auto of_run = figure(run);
    if (of_run && (!least || *of_run < *least)) least = of_run;
  }
  return least;
}

// The highest whole percentage that every tested run reaches; below 1 % the exact value.
std::optional<double> common_accuracy(std::span<const ReportedRun> runs) {
  const std::optional<double> common = least(runs, best_accuracy);
  if (!common || *common < 0.01) return common;
  constexpr double kRounding = 1e-9;  // 0.29 * 100 is a little less than 29
  return std::min(*common, std::floor(*common * 100 + kRounding) / 100);
}

}  // namespace

Comparison compare_runs(std::span<const ReportedRun> runs, std::optional<double> accuracy) {
  Comparison comparison{.accuracy = accuracy ? accuracy : common_accuracy(runs),
                        .bytes = least(runs, bytes_at_last_test),
                        .rows = {}};
  for (const auto& run : runs) {
    Comparison::Row row;
    if (comparison.accuracy) row.bytes_to_reach = bytes_until_test_reaches(run, *comparison.accuracy);
    if (comparison.bytes) row.accuracy_at = accuracy_at(run, *comparison.bytes);
    const auto first = comparison.rows.empty() ? row.bytes_to_reach : comparison.rows.front().bytes_to_reach;
    if (row.bytes_to_reach && first && *first > 0) {
      row.bytes_ratio = static_cast<double>(*row.bytes_to_reach) / static_cast<double>(*first);
    }
    comparison.rows.push_back(row);
  }
  return comparison;
}

std::string code_name(const ReportedRun& run) {
  if (run.family.empty()) return "-";
  if (run.family == "none" || !run.keep) return run.family;
  return fmt::format("{} {:g}", run.family, *run.keep);
}

std::string ratio_text(std::optional<double> ratio) {
  constexpr double kEqual = 0.005;  // shown with two decimals
  if (!ratio || !(*ratio > 0)) return "-";
  if (std::abs(*ratio - 1) < kEqual) return "the same";
  return *ratio < 1 ? fmt::format("{:.2f}x fewer", 1 / *ratio) : fmt::format("{:.2f}x more", *ratio);
}

std::string round_percent(double fraction) { return fmt::format("{:.4g} %", fraction * 100); }

std::string report_table(std::span<const ReportedRun> runs) { return report_table(runs, compare_runs(runs)); }

std::string report_table(std::span<const ReportedRun> runs, const Comparison& comparison) {
  constexpr size_t kLongestName = 32, kTextColumns = 2;
  const std::vector<RunGroup> groups = group_by_seed(runs);
  const std::vector<GroupFigures> figures = group_figures(runs, groups, comparison);
  const bool several = groups.size() > 1, grouped = groups.size() < runs.size();
  const bool searched =
      std::ranges::any_of(runs, [](const ReportedRun& run) { return run.search_bytes > 0; });
  std::vector<std::vector<std::string>> lines;
  lines.push_back({"run", "code"});
  if (grouped) lines[0].emplace_back("seeds");
  lines[0].insert(lines[0].end(), {"accuracy", "bytes down", "bytes up"});
  if (searched) lines[0].emplace_back("search");
  lines[0].emplace_back("total");
  if (comparison.accuracy)
    lines[0].push_back(fmt::format("bytes to reach {}", round_percent(*comparison.accuracy)));
  if (comparison.accuracy && several) lines[0].emplace_back("than the first");
  if (comparison.bytes && several)
    lines[0].push_back(fmt::format("accuracy at {}", bytes(*comparison.bytes)));
  for (size_t i = 0; i < groups.size(); ++i) {
    const GroupFigures& row = figures[i];
    auto& line = lines.emplace_back();
    line = {clip_text(groups[i].name, kLongestName), code_name(runs[groups[i].members.front()])};
    if (grouped) line.push_back(seeds_text(row));
    line.insert(line.end(), {percent_text(row.final), bytes_text(row.bytes_down), bytes_text(row.bytes_up)});
    if (searched) line.push_back(row.search_bytes.mean > 0 ? bytes_text(row.search_bytes) : "-");
    line.push_back(bytes_text(row.bytes_total));
    if (comparison.accuracy) line.push_back(reached_text(row));
    if (comparison.accuracy && several) line.push_back(i == 0 ? "-" : ratio_text(row.bytes_ratio));
    if (comparison.bytes && several) line.push_back(percent_text(row.accuracy_at));
  }
  return align_table(lines,
                     std::string(kTextColumns, 'l') + std::string(lines[0].size() - kTextColumns, 'r'));
}

std::string report_json(std::span<const ReportedRun> runs, const Comparison& comparison) {
  const SettingDifferences differences = differing_settings(runs);
  Json report = {{"accuracy", value_or_null(comparison.accuracy)},
                 {"bytes", value_or_null(comparison.bytes)},
                 {"differing_settings", differences.keys},
                 {"runs", Json::array()},
                 {"groups", Json::array()}};
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto& run = runs[i];
    Json settings = Json::object();
    for (size_t k = 0; k < differences.keys.size(); ++k)
      settings[differences.keys[k]] = json_value(differences.values[i][k]);
    report["runs"].push_back({{"run", run.name},
                              {"model", text_or_null(run.model)},
                              {"family", text_or_null(run.family)},
                              {"keep", value_or_null(run.keep)},
                              {"optimizer", text_or_null(run.optimizer)},
                              {"server_lr", value_or_null(run.server_lr)},
                              {"clients", value_or_null(run.clients)},
                              {"seed", value_or_null(run.seed)},
                              {"settings", std::move(settings)},
                              {"rounds", run.rounds.empty() ? 0 : run.rounds.back().round},
                              {"final_accuracy", value_or_null(final_accuracy(run))},
                              {"best_accuracy", value_or_null(best_accuracy(run))},
                              {"bytes_down", bytes_down(run)},
                              {"bytes_up", bytes_up(run)},
                              {"search_bytes", run.search_bytes},
                              {"bytes_total", bytes_total(run)},
                              {"bytes_to_reach", value_or_null(comparison.rows[i].bytes_to_reach)},
                              {"bytes_ratio", value_or_null(comparison.rows[i].bytes_ratio)},
                              {"accuracy_at_bytes", value_or_null(comparison.rows[i].accuracy_at)}});
  }
  const std::vector<RunGroup> groups = group_by_seed(runs);
  const std::vector<GroupFigures> figures = group_figures(runs, groups, comparison);
  for (size_t i = 0; i < groups.size(); ++i) {
    Json members = Json::array();
    for (const size_t member : groups[i].members) members.push_back(runs[member].name);
    report["groups"].push_back({{"name", groups[i].name},
                                {"runs", std::move(members)},
                                {"diverged", figures[i].diverged},
                                {"final_accuracy", estimate_or_null(figures[i].final)},
                                {"best_accuracy", estimate_or_null(figures[i].best)},
                                {"bytes_total", estimate_or_null(figures[i].bytes_total)},
                                {"reached", figures[i].reached},
                                {"bytes_to_reach", estimate_or_null(figures[i].bytes_to_reach)},
                                {"bytes_ratio", value_or_null(figures[i].bytes_ratio)},
                                {"accuracy_at_bytes", estimate_or_null(figures[i].accuracy_at)}});
  }
  return report.dump(2) + "\n";
}

}  // namespace subfleet
