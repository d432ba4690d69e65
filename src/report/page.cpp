#include "report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "report/differences.h"
#include "report/output_file.h"

namespace subfleet {
namespace {

constexpr std::string_view kStyle = R"css(
:root{color-scheme:light dark;--page:#f6f8fa;--card:#fff;--edge:#dfe3e8;--ink:#1f2328;--soft:#57606a;--bar:#cfe6f5;--key:#0072b2}
@media(prefers-color-scheme:dark){:root{--page:#0b0e13;--card:#12161c;--edge:#2a313a;--ink:#e6edf3;--soft:#9aa4af;--bar:#15415f;--key:#4aa8e8}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:1160px;margin:0 auto;padding:36px 24px 48px}
header{margin-bottom:22px}
h1{font-size:26px;line-height:1.25;margin:0 0 4px;letter-spacing:-.01em;overflow-wrap:anywhere}
header p{margin:0;color:var(--soft)}
header .headline{margin-top:12px;font-size:18px;color:var(--ink)}
header .headline b{color:var(--key)}
h2{font-size:17px;margin:34px 0 10px}
.card{background:var(--card);border:1px solid var(--edge);border-radius:10px}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:14px;margin-bottom:20px}
.tile{padding:14px 18px}
.tile b{display:block;font-size:24px;line-height:1.3;font-variant-numeric:tabular-nums}
.tile span{color:var(--soft);font-size:13px}
.wide{overflow-x:auto;margin-bottom:20px}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:14px}
th,td{padding:9px 12px;text-align:right;white-space:nowrap}
th{font-weight:500;font-size:13px;color:var(--soft);border-bottom:1px solid var(--edge);vertical-align:bottom}
tr+tr td{border-top:1px solid var(--edge)}
th.t,td.t{text-align:left}
th:first-child,td:first-child{padding-left:18px}
th:last-child,td:last-child{padding-right:18px}
td.run{font-weight:600;max-width:260px;overflow:hidden;text-overflow:ellipsis}
td i{font-style:normal;color:var(--soft)}
td .bar{display:block;height:4px;border-radius:2px;background:var(--bar);margin:3px 0 0 auto}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,480px),1fr));gap:18px}
.charts .card{padding:8px 6px 2px}
.charts svg{display:block;width:100%;height:auto}
details{margin-top:10px}
summary{cursor:pointer;padding:11px 18px;font-weight:600}
pre{margin:0;padding:4px 18px 16px;overflow-x:auto;font:13px/1.55 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.note{padding:12px 18px;color:var(--soft);margin-bottom:20px}
footer{margin-top:34px;color:var(--soft);font-size:13px}
@media print{main{max-width:none;padding:0}.card{break-inside:avoid}}
)css";

uint32_t rounds_done(const RunSummary& run) { return run.rounds.empty() ? 0 : run.rounds.back().round; }

std::string bytes(uint64_t count) { return human_bytes(static_cast<double>(count)); }

std::string text_or_dash(const std::string& text) { return text.empty() ? "–" : escape_markup(text); }

std::string number_or_dash(std::optional<double> number) {
  return number ? fmt::format("{:.4g}", *number) : "–";
}

class PageWriter {
 public:
  PageWriter(std::span<const RunSummary> runs, const Comparison& comparison)
      : runs_(runs), comparison_(comparison) {}

  std::string write() {
    const std::string title = escape_markup(names());
    add("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{}\n"
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>{} - "
        "Subfleet</title>\n"
        "<style>{}{}</style>\n</head>\n<body>\n<main>\n",
        kPageMarker, title, kStyle, chart_style());
    write_header(title);
    if (runs_.size() == 1) write_tiles(runs_[0]);
    write_missing_rounds();
    write_table();
    write_differences();
    write_charts();
    write_configs();
    page_ +=
        "<footer>Bytes are counted in both directions, in decimal units; those of a run that won a search "
        "include the search's.</footer>\n</main>\n</body>\n</html>\n";
    return std::move(page_);
  }

 private:
  template <typename... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(page_), format, std::forward<Arguments>(arguments)...);
  }

  std::string names() const {
    constexpr size_t kLongestTitle = 80;
    std::string all;
    for (const auto& run : runs_) all += (all.empty() ? "" : ", ") + run.name;
    return text_width(all) <= kLongestTitle || runs_.size() == 1 ? all : fmt::format("{} runs", runs_.size());
  }

  void write_header(const std::string& title) {
    add("<header>\n<h1>{}</h1>\n<p>{}</p>\n", title,
        runs_.size() == 1 ? "A federated training run" : "Federated training runs, side by side");
    write_headline();
    page_ += "</header>\n";
  }

  // Says which run needed the fewest bytes, if one needed fewer than the first.
  void write_headline() {
    size_t best = 0;
    for (size_t i = 1; i < runs_.size(); ++i) {
      if (comparison_.rows[i].bytes_ratio.value_or(1) < comparison_.rows[best].bytes_ratio.value_or(1))
        best = i;
    }
    if (best == 0) return;
    add("<p class=\"headline\"><b>{}</b> reaches {} test accuracy with <b>{:.2f}× fewer bytes</b> than "
        "{}.</p>\n",
        escape_markup(runs_[best].name), round_percent(*comparison_.accuracy),
        1 / *comparison_.rows[best].bytes_ratio, escape_markup(runs_[0].name));
  }

  void write_tiles(const RunSummary& run) {
    double seconds = 0;
    uint64_t left_out = 0;
    for (const auto& record : run.rounds) {
      seconds += record.seconds;
      left_out += record.outcomes.left_out();
    }
    const auto tile = [this](const std::string& value, std::string_view label) {
      add("<div class=\"card tile\"><b>{}</b><span>{}</span></div>\n", value, label);
    };
    page_ += "<div class=\"tiles\">\n";
    tile(human_percent(final_accuracy(run)), "final test accuracy");
    tile(human_percent(best_accuracy(run)), "best test accuracy");
    tile(fmt::format("{}", rounds_done(run)), "rounds");
    tile(bytes(bytes_total(run)), run.search_bytes > 0 ? "exchanged, search included" : "exchanged");
    tile(human_time(seconds), "training time");
    if (left_out > 0) tile(fmt::format("{}", left_out), "client trainings left out");
    page_ += "</div>\n";
  }

  void write_missing_rounds() {
    for (const auto& run : runs_) {
      if (!run.rounds.empty()) continue;
      add("<p class=\"card note\">{} has no rounds yet.</p>\n", escape_markup(run.name));
    }
  }

  void write_table() {
    const bool several = runs_.size() > 1;
    page_ +=
        "<div class=\"card wide\">\n<table>\n<tr><th class=\"t\">run</th><th "
        "class=\"t\">code</th><th>keep</th>"
        "<th class=\"t\">optimizer</th><th>server lr</th><th>rounds</th><th>final</th><th>best</th><th>total "
        "bytes</th>";
    if (comparison_.accuracy) add("<th>bytes to reach {}</th>", round_percent(*comparison_.accuracy));
    if (several && comparison_.accuracy)
      add("<th>than the first</th><th>accuracy at {}</th>", bytes(comparison_.bytes.value_or(0)));
    page_ += "</tr>\n";

    uint64_t most = 1;
    for (const auto& row : comparison_.rows) most = std::max(most, row.bytes_to_reach.value_or(0));
    for (size_t i = 0; i < runs_.size(); ++i) {
      const auto& run = runs_[i];
      const auto& row = comparison_.rows[i];
      add("<tr><td class=\"t run\" title=\"{0}\">{0}</td><td class=\"t\">{1}</td><td>{2}</td><td "
          "class=\"t\">{3}</td>"
          "<td>{4}</td><td>{5}</td><td>{6}</td><td>{7}</td><td>{8}</td>",
          escape_markup(run.name), text_or_dash(run.family), number_or_dash(run.keep),
          text_or_dash(run.optimizer), number_or_dash(run.server_lr), rounds_done(run),
          human_percent(final_accuracy(run)), human_percent(best_accuracy(run)), bytes(bytes_total(run)));
      if (comparison_.accuracy && row.bytes_to_reach) {
        add("<td>{}<span class=\"bar\" style=\"width:{:.1f}%\"></span></td>", bytes(*row.bytes_to_reach),
            100 * static_cast<double>(*row.bytes_to_reach) / static_cast<double>(most));
      } else if (comparison_.accuracy) {
        page_ += "<td><i>not reached</i></td>";
      }
      if (comparison_.accuracy && several) {
        add("<td>{}</td><td>{}</td>", i == 0 ? "–" : ratio_text(row.bytes_ratio),
            human_percent(row.accuracy_at));
      }
      page_ += "</tr>\n";
    }
    page_ += "</table>\n</div>\n";
  }

  void write_differences() {
    if (runs_.size() < 2) return;
    const SettingDifferences differences = differing_settings(runs_);
    if (differences.keys.empty()) {
      page_ += "<p class=\"card note\">No setting differs between these runs.</p>\n";
      return;
    }
    page_ += "<div class=\"card wide\">\n<table>\n<tr><th class=\"t\">settings that differ</th>";
    for (const auto& key : differences.keys) add("<th class=\"t\">{}</th>", escape_markup(key));
    page_ += "</tr>\n";
    for (size_t i = 0; i < runs_.size(); ++i) {
      add("<tr><td class=\"t run\" title=\"{0}\">{0}</td>", escape_markup(runs_[i].name));
      for (const auto& value : differences.values[i])
        add("<td class=\"t\">{}</td>", text_or_dash(value.value_or("")));
      page_ += "</tr>\n";
    }
    page_ += "</table>\n</div>\n";
  }

  void write_charts() {
    page_ += "<div class=\"charts\">\n";
    for (const auto& chart : {accuracy_over_rounds(runs_), accuracy_over_bytes(runs_),
                              training_accuracy_over_rounds(runs_), training_loss_over_rounds(runs_)}) {
      add("<div class=\"card\">\n{}</div>\n", svg_element(chart));
    }
    page_ += "</div>\n";
  }

  void write_configs() {
    page_ += "<h2>Settings</h2>\n";
    for (const auto& run : runs_) {
      add("<details class=\"card\"{}><summary>{}</summary>\n<pre>{}</pre>\n</details>\n",
          runs_.size() == 1 ? " open" : "", escape_markup(run.name),
          run.config.empty() ? "there is no config.toml" : escape_markup(run.config));
    }
  }

  std::span<const RunSummary> runs_;
  const Comparison& comparison_;
  std::string page_;
};

}  // namespace

std::string report_page(std::span<const RunSummary> runs, const Comparison& comparison) {
  return PageWriter(runs, comparison).write();
}

std::string report_page(std::span<const RunSummary> runs) { return report_page(runs, compare_runs(runs)); }

}  // namespace subfleet
