#include "report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace subfleet {
namespace {

using Json = nlohmann::ordered_json;

std::string bytes(uint64_t count) { return human_bytes(static_cast<double>(count)); }

template <typename Value>
Json value_or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

}  // namespace

Comparison compare_runs(std::span<const RunSummary> runs, std::optional<double> accuracy) {
  Comparison comparison{
      .accuracy = accuracy ? accuracy : common_accuracy(runs), .bytes = common_bytes(runs), .rows = {}};
  for (const auto& run : runs) {
    Comparison::Row row;
    if (comparison.accuracy) row.bytes_to_reach = bytes_to_reach(run, *comparison.accuracy);
    if (comparison.bytes) row.accuracy_at = accuracy_at(run, *comparison.bytes);
    const auto first = comparison.rows.empty() ? row.bytes_to_reach : comparison.rows.front().bytes_to_reach;
    if (first && row.bytes_to_reach && *row.bytes_to_reach > 0) {
      row.less = static_cast<double>(*first) / static_cast<double>(*row.bytes_to_reach);
    }
    comparison.rows.push_back(row);
  }
  return comparison;
}

std::string code_name(const RunSummary& run) {
  if (run.family.empty()) return "-";
  if (run.family == "none" || !run.keep) return run.family;
  return fmt::format("{} {:g}", run.family, *run.keep);
}

std::string round_percent(double fraction) { return fmt::format("{:.4g} %", fraction * 100); }

std::string report_table(std::span<const RunSummary> runs) { return report_table(runs, compare_runs(runs)); }

std::string report_table(std::span<const RunSummary> runs, const Comparison& comparison) {
  constexpr size_t kLongestName = 32, kTextColumns = 2;
  const bool several = runs.size() > 1;
  const bool searched = std::ranges::any_of(runs, [](const RunSummary& run) { return run.search_bytes > 0; });
  std::vector<std::vector<std::string>> lines;
  lines.push_back({"run", "code", "accuracy", "bytes down", "bytes up"});
  if (searched) lines[0].emplace_back("search");
  lines[0].emplace_back("total");
  if (comparison.accuracy)
    lines[0].push_back(fmt::format("bytes to reach {}", round_percent(*comparison.accuracy)));
  if (comparison.accuracy && several) lines[0].emplace_back("less");
  if (comparison.bytes && several)
    lines[0].push_back(fmt::format("accuracy at {}", bytes(*comparison.bytes)));
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto& run = runs[i];
    const auto& row = comparison.rows[i];
    auto& line = lines.emplace_back();
    line = {clip_text(run.name, kLongestName), code_name(run), human_percent(final_accuracy(run)),
            bytes(bytes_down(run)), bytes(bytes_up(run))};
    if (searched) line.push_back(run.search_bytes > 0 ? bytes(run.search_bytes) : "-");
    line.push_back(bytes(bytes_total(run)));
    if (comparison.accuracy) line.push_back(row.bytes_to_reach ? bytes(*row.bytes_to_reach) : "not reached");
    if (comparison.accuracy && several) line.push_back(row.less ? fmt::format("{:.2f}x", *row.less) : "-");
    if (comparison.bytes && several) line.push_back(human_percent(row.accuracy_at));
  }
  return align_table(lines,
                     std::string(kTextColumns, 'l') + std::string(lines[0].size() - kTextColumns, 'r'));
}

std::string report_json(std::span<const RunSummary> runs, const Comparison& comparison) {
  Json report = {{"accuracy", value_or_null(comparison.accuracy)},
                 {"bytes", value_or_null(comparison.bytes)},
                 {"runs", Json::array()}};
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto& run = runs[i];
    report["runs"].push_back({{"run", run.name},
                              {"model", text_or_null(run.model)},
                              {"family", text_or_null(run.family)},
                              {"keep", value_or_null(run.keep)},
                              {"optimizer", text_or_null(run.optimizer)},
                              {"server_lr", value_or_null(run.server_lr)},
                              {"clients", value_or_null(run.clients)},
                              {"seed", value_or_null(run.seed)},
                              {"rounds", run.rounds.empty() ? 0 : run.rounds.back().round},
                              {"final_accuracy", value_or_null(final_accuracy(run))},
                              {"best_accuracy", value_or_null(best_accuracy(run))},
                              {"bytes_down", bytes_down(run)},
                              {"bytes_up", bytes_up(run)},
                              {"search_bytes", run.search_bytes},
                              {"bytes_total", bytes_total(run)},
                              {"bytes_to_reach", value_or_null(comparison.rows[i].bytes_to_reach)},
                              {"less", value_or_null(comparison.rows[i].less)},
                              {"accuracy_at_bytes", value_or_null(comparison.rows[i].accuracy_at)}});
  }
  return report.dump(2) + "\n";
}

}  // namespace subfleet
