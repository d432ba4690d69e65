#include "report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/text.h"

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
  Comparison comparison{.accuracy = accuracy ? accuracy : common_accuracy(runs), .rows = {}};
  for (const auto& run : runs) {
    Comparison::Row row;
    if (comparison.accuracy) row.bytes_to_reach = bytes_to_reach(run, *comparison.accuracy);
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
  std::vector<std::vector<std::string>> lines;
  lines.push_back({"run", "code", "accuracy", "bytes down", "bytes up", "total"});
  if (comparison.accuracy)
    lines[0].push_back(fmt::format("bytes to reach {}", round_percent(*comparison.accuracy)));
  if (comparison.accuracy && runs.size() > 1) lines[0].emplace_back("less");
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto& run = runs[i];
    const auto& row = comparison.rows[i];
    lines.push_back({clip_text(run.name, kLongestName), code_name(run), human_percent(final_accuracy(run)),
                     bytes(bytes_down(run)), bytes(bytes_up(run)), bytes(bytes_total(run)),
                     row.bytes_to_reach ? bytes(*row.bytes_to_reach) : "not reached",
                     row.less ? fmt::format("{:.2f}x", *row.less) : "-"});
    lines.back().resize(lines[0].size());
  }

  std::vector<size_t> widths(lines[0].size(), 0);
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], text_width(line[i]));
  }
  std::string table;
  for (size_t number = 0; number < lines.size(); ++number) {
    const auto& line = lines[number];
    for (size_t i = 0; i < line.size(); ++i) {
      if (i > 0) table += "  ";
      table += i < kTextColumns ? pad_right(line[i], widths[i]) : pad_left(line[i], widths[i]);
    }
    table += "\n";
    if (number > 0) continue;
    for (size_t i = 0; i < widths.size(); ++i) table += (i > 0 ? "  " : "") + std::string(widths[i], '-');
    table += "\n";
  }
  return table;
}

std::string report_json(std::span<const RunSummary> runs, const Comparison& comparison) {
  Json report = {{"accuracy", value_or_null(comparison.accuracy)}, {"runs", Json::array()}};
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
                              {"bytes_total", bytes_total(run)},
                              {"bytes_to_reach", value_or_null(comparison.rows[i].bytes_to_reach)},
                              {"less", value_or_null(comparison.rows[i].less)}});
  }
  return report.dump(2) + "\n";
}

}  // namespace subfleet
