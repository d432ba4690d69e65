#include "subfleet/page/page.h"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <utility>

#include "page/page_parts.h"
#include "page/run_command.h"
#include "subfleet/base/file.h"
#include "subfleet/base/text.h"
#include "subfleet/charts/chart.h"
#include "subfleet/page/output_file.h"
#include "subfleet/store/run_writer.h"

namespace subfleet {
namespace {

constexpr size_t kManyLines = 12;  // are drawn thinner

// The page never loads anything from outside.
constexpr std::string_view kPolicy =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; img-src data:\">\n";
constexpr std::string_view kReload = "<meta http-equiv=\"refresh\" content=\"5\">\n";

std::string names_of(const PageRuns& shown) {
  constexpr size_t kLongestTitle = 80;
  std::string all;
  for (const RunGroup& group : shown.groups) all += (all.empty() ? "" : ", ") + group.name;
  return text_width(all) <= kLongestTitle || shown.groups.size() == 1
             ? all
             : fmt::format("{} runs", shown.runs.size());
}

// Says which runs needed the fewest bytes, if some needed fewer than the first.
std::string headline_of(const PageRuns& shown) {
  size_t best = 0;
  for (size_t i = 1; i < shown.groups.size(); ++i) {
    if (shown.figures[i].bytes_ratio.value_or(1) < shown.figures[best].bytes_ratio.value_or(1)) best = i;
  }
  if (best == 0) return "";
  return fmt::format(
      "<p class=\"headline\"><b>{}</b> reaches {} test accuracy with <b>{:.2f}× fewer bytes</b> than "
      "{}.</p>\n",
      escape_markup(shown.groups[best].name), round_percent(*shown.comparison.accuracy),
      1 / *shown.figures[best].bytes_ratio, escape_markup(shown.groups[0].name));
}

std::string header_of(const PageRuns& shown, const std::string& title) {
  const std::string_view what = shown.runs.size() == 1     ? "A federated training run"
                                : shown.groups.size() == 1 ? "A federated training run with several seeds"
                                                           : "Federated training runs, side by side";
  return fmt::format("<header>\n<h1>{}</h1>\n<p>{}</p>\n{}</header>\n", title, what, headline_of(shown));
}

std::string tiles_of(const PageRuns& shown) {
  double seconds = 0;
  uint64_t left_out = 0;
  uint32_t rounds = 0;
  for (const ReportedRun& run : shown.runs) {
    for (const RoundRecord& record : run.rounds) {
      seconds += record.seconds;
      left_out += record.outcomes.left_out();
      rounds = std::max(rounds, record.round);
    }
  }
  std::string tiles = "<div class=\"tiles\">\n";
  const auto tile = [&](const std::string& value, std::string_view label) {
    fmt::format_to(std::back_inserter(tiles), "<div class=\"card tile\"><b>{}</b><span>{}</span></div>\n",
                   value, label);
  };
  const GroupFigures& figures = shown.figures[0];
  tile(percent_text(figures.final), "final test accuracy");
  tile(percent_text(figures.best), "best test accuracy");
  tile(fmt::format("{}", rounds), "rounds");
  tile(bytes_text(figures.bytes_total),
       figures.search_bytes.mean > 0 ? "exchanged, search included" : "exchanged");
  tile(human_time(seconds), "training time");
  if (left_out > 0) tile(fmt::format("{}", left_out), "client trainings left out");
  return tiles + "</div>\n";
}

std::string missing_rounds(const PageRuns& shown) {
  std::string notes;
  for (const ReportedRun& run : shown.runs) {
    if (run.rounds.empty())
      notes += fmt::format("<p class=\"card note\">{} has no rounds yet.</p>\n", escape_markup(run.name));
  }
  return notes;
}

}  // namespace

std::string settings_part(const PageRuns& shown) {
  std::string part = "<h2>Commands and settings</h2>\n<p>Each command trains the same run again.</p>\n";
  for (size_t i = 0; i < shown.groups.size(); ++i) {
    const RunGroup& group = shown.groups[i];
    part += fmt::format("<details class=\"card\" data-s=\"{}\"{}><summary>{}</summary>\n", i,
                        shown.groups.size() == 1 ? " open=\"\"" : "", escape_markup(group.name));
    for (const size_t member : group.members) {
      const auto& config = shown.runs[member].parsed_config;
      if (!config) continue;
      part += fmt::format("<pre class=\"command\">{}</pre>\n",
                          escape_markup(train_command(shown.runs[member], *config)));
    }
    const ReportedRun& first = shown.first_of(i);
    part += fmt::format("<pre>{}</pre>\n</details>\n",
                        first.config.empty() ? "there is no config.toml" : escape_markup(first.config));
  }
  return part;
}

std::string report_page(std::span<const ReportedRun> runs, const Comparison& comparison, Reload reload) {
  const PageRuns shown{.runs = runs, .comparison = comparison};
  const std::string title = escape_markup(names_of(shown));
  std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{}\n{}{}"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>{} - "
      "Subfleet</title>\n"
      "<style>{}{}</style>\n</head>\n<body{}>\n<main>\n",
      kPageMarker, kPolicy, reload == Reload::kYes ? kReload : "", title, page_style(), chart_style(),
      shown.groups.size() > kManyLines ? " class=\"many\"" : "");
  page += header_of(shown, title);
  if (shown.groups.size() == 1) page += tiles_of(shown);
  page += missing_rounds(shown) + runs_table(shown) + differences_part(shown) + charts_part(shown) +
          searches_part(shown) + bytes_part(shown) + books_part(shown) + settings_part(shown);
  return std::move(page) +
         fmt::format(
             "<footer>Bytes are counted in both directions, in decimal units; those of a run that won a "
             "search "
             "include the search's.</footer>\n</main>\n<script>{}</script>\n</body>\n</html>\n",
             page_script());
}

std::string report_page(std::span<const ReportedRun> runs) { return report_page(runs, compare_runs(runs)); }

void write_run_page(const std::filesystem::path& folder) {
  const std::array runs{reported_run(load_run(folder))};
  write_file(folder / RunWriter::kPage, report_page(runs));
}

}  // namespace subfleet
