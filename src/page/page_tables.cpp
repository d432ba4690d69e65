#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "page/page_parts.h"
#include "subfleet/base/text.h"
#include "subfleet/charts/chart.h"
#include "subfleet/report/differences.h"

namespace subfleet {
namespace {

constexpr size_t kFewRows = 3;  // need no filter

std::string text_or_dash(const std::string& text) { return text.empty() ? "–" : escape_markup(text); }

std::string number_or_dash(std::optional<double> number) {
  return number ? fmt::format("{:.4g}", *number) : "–";
}

// A figure's cell, sorted by the number, not by what is shown.
std::string cell(const std::string& shown, std::optional<double> value) {
  return fmt::format("<td data-v=\"{}\">{}</td>", value ? fmt::format("{:.9g}", *value) : "", shown);
}
std::string cell(const std::string& shown, const std::optional<Estimate>& value) {
  return cell(shown, value ? std::optional(value->mean) : std::nullopt);
}

uint32_t rounds_done(const PageRuns& shown, size_t group) {
  uint32_t most = 0;
  for (const size_t member : shown.groups[group].members) {
    const auto& rounds = shown.runs[member].rounds;
    if (!rounds.empty()) most = std::max(most, rounds.back().round);
  }
  return most;
}

std::string name_cell(size_t group, const std::string& name, const std::string& sample = "") {
  return fmt::format("<tr data-s=\"{0}\"><td class=\"t run\" title=\"{1}\">{2}{1}</td>", group,
                     escape_markup(name), sample);
}

std::string reached_cell(const GroupFigures& row, double most) {
  if (!row.bytes_to_reach) return "<td data-v=\"\"><i>not reached</i></td>";
  const double share = most > 0 ? 100 * row.bytes_to_reach->mean / most : 0;
  return cell(fmt::format("{}<span class=\"bar\" style=\"width:{:.1f}%\"></span>", reached_text(row), share),
              row.bytes_to_reach);
}

}  // namespace

std::string runs_table(const PageRuns& shown) {
  const Comparison& comparison = shown.comparison;
  const bool several = shown.groups.size() > 1, grouped = shown.groups.size() < shown.runs.size();
  std::string table;
  const auto head = [&](std::string_view name, bool text = false) {
    fmt::format_to(std::back_inserter(table), "<th{}>{}</th>", text ? " class=\"t\"" : "", name);
  };
  if (shown.groups.size() > kFewRows) {
    table +=
        "<input class=\"filter\" type=\"search\" placeholder=\"filter runs, e.g. gold 0.25\" "
        "aria-label=\"filter runs\"/>\n";
  }
  table += "<div class=\"card wide\">\n<table class=\"runs sortable\">\n<thead><tr>";
  head("run", true);
  head("code", true);
  head("keep");
  head("optimizer", true);
  head("server lr");
  if (grouped) head("seeds");
  head("rounds");
  head("final");
  head("best");
  head("total bytes");
  if (comparison.accuracy) head(fmt::format("bytes to reach {}", round_percent(*comparison.accuracy)));
  if (several && comparison.accuracy) {
    head("than the first");
    head(fmt::format("accuracy at {}", human_bytes(static_cast<double>(comparison.bytes.value_or(0)))));
  }
  table += "</tr></thead>\n<tbody>\n";

  double most = 0;
  for (const GroupFigures& row : shown.figures)
    most = std::max(most, row.bytes_to_reach ? row.bytes_to_reach->mean : 0);
  for (size_t i = 0; i < shown.groups.size(); ++i) {
    const ReportedRun& run = shown.first_of(i);
    const GroupFigures& row = shown.figures[i];
    table += name_cell(i, shown.groups[i].name, several ? line_sample(i) : "");
    table += fmt::format("<td class=\"t\">{}</td>", text_or_dash(run.family));
    table += cell(number_or_dash(run.keep), run.keep);
    table += fmt::format("<td class=\"t\">{}</td>", text_or_dash(run.optimizer));
    table += cell(number_or_dash(run.server_lr), run.server_lr);
    if (grouped) table += cell(seeds_text(row), static_cast<double>(row.seeds));
    table += fmt::format("<td>{}</td>", rounds_done(shown, i));
    table += cell(percent_text(row.final), row.final) + cell(percent_text(row.best), row.best) +
             cell(bytes_text(row.bytes_total), row.bytes_total.mean);
    if (comparison.accuracy) table += reached_cell(row, most);
    if (several && comparison.accuracy) {
      table += cell(i == 0 ? "–" : ratio_text(row.bytes_ratio), row.bytes_ratio);
      table += cell(percent_text(row.accuracy_at), row.accuracy_at);
    }
    table += "</tr>\n";
  }
  table += "</tbody>\n</table>\n</div>\n";
  if (grouped) {
    table +=
        "<p class=\"card note\">Runs that differ in their seed alone are one row and one line: the mean over "
        "the seeds ± the half width of its 95 % interval; bands reach from the lowest to the highest "
        "seed.</p>\n";
  }
  return table;
}

std::string differences_part(const PageRuns& shown) {
  if (shown.groups.size() < 2) return "";
  const std::vector<ReportedRun> groups = representatives(shown.runs, shown.groups);
  const SettingDifferences differences = differing_settings(groups);
  if (differences.keys.empty()) return "<p class=\"card note\">No setting differs between these runs.</p>\n";
  std::string table =
      "<div class=\"card wide\">\n<table class=\"sortable\">\n<thead><tr><th class=\"t\">settings that "
      "differ</th>";
  for (const auto& key : differences.keys)
    table += fmt::format("<th class=\"t\">{}</th>", escape_markup(key));
  table += "</tr></thead>\n<tbody>\n";
  for (size_t i = 0; i < groups.size(); ++i) {
    table += name_cell(i, groups[i].name);
    for (const auto& value : differences.values[i])
      table += fmt::format("<td class=\"t\">{}</td>", text_or_dash(value.value_or("")));
    table += "</tr>\n";
  }
  return table + "</tbody>\n</table>\n</div>\n";
}

}  // namespace subfleet
