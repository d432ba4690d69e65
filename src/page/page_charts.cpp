#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "charts/chart_style.h"
#include "page/layer_bytes.h"
#include "page/page_parts.h"
#include "subfleet/base/file.h"
#include "subfleet/base/text.h"
#include "subfleet/error.h"
#include "subfleet/report/curves.h"
#include "subfleet/search/search_folder.h"

namespace subfleet {
namespace {

bool anything_in(const Chart& chart) {
  return std::ranges::any_of(chart.series, [](const Series& series) { return !series.points.empty(); });
}

std::string legend_of(const PageRuns& shown) {
  std::string legend = "<div class=\"legend card\">\n";
  for (size_t i = 0; i < shown.groups.size(); ++i) {
    fmt::format_to(
        std::back_inserter(legend),
        "<button type=\"button\" data-s=\"{}\" title=\"{}: click to hide or show, double-click for it "
        "alone\">{}<span>{}</span></button>\n",
        i, escape_markup(shown.groups[i].name), line_sample(i), escape_markup(shown.groups[i].name));
  }
  return legend + "</div>\n";
}

// The layers of all groups, each once, in the order of the models.
class Layers {
 public:
  size_t index(const std::string& name) {
    const auto found = std::ranges::find(names_, name);
    if (found != names_.end()) return static_cast<size_t>(found - names_.begin());
    names_.push_back(name);
    return names_.size() - 1;
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
};

std::string bar_cell(const std::vector<LayerBytes>& layers, double LayerBytes::*way, double most,
                     Layers& known) {
  constexpr double kWidth = 1000;
  std::string cell = fmt::format(
      "<td class=\"t draw\"><svg class=\"chart\" viewBox=\"0 0 {:g} 16\" preserveAspectRatio=\"none\">",
      kWidth);
  double x = 0, sum = 0;
  for (const LayerBytes& layer : layers) {
    const double width = most > 0 ? kWidth * layer.*way / most : 0;
    fmt::format_to(std::back_inserter(cell),
                   "<rect class=\"d{}\" x=\"{:.2f}\" y=\"0\" width=\"{:.2f}\" height=\"16\"><title>{}: "
                   "{}</title></rect>",
                   known.index(layer.layer) % kChartColours, x, width, escape_markup(layer.layer),
                   human_bytes(layer.*way));
    x += width;
    sum += layer.*way;
  }
  return cell + fmt::format("</svg></td><td data-v=\"{:.9g}\">{}</td>", sum, human_bytes(sum));
}

}  // namespace

std::string charts_part(const PageRuns& shown) {
  std::vector<Chart> charts{accuracy_over_rounds(shown.runs), accuracy_over_bytes(shown.runs),
                            training_accuracy_over_rounds(shown.runs), training_loss_over_rounds(shown.runs)};
  for (const Chart& chart : {test_loss_over_rounds(shown.runs), client_accuracies_over_rounds(shown.runs),
                             server_rate_over_rounds(shown.runs), client_rate_over_rounds(shown.runs)}) {
    if (anything_in(chart)) charts.push_back(chart);
  }
  std::string part = legend_of(shown) + "<div class=\"charts\">\n";
  for (const Chart& chart : charts) part += "<div class=\"card\">\n" + svg_element(chart) + "</div>\n";
  return part + "</div>\n";
}

std::string searches_part(const PageRuns& shown) {
  std::string part;
  for (const ReportedRun& run : shown.runs) {
    const std::filesystem::path picture = run.folder / SearchFolder::kPicture;
    if (run.search_bytes == 0 || run.folder.empty() || !std::filesystem::exists(picture)) continue;
    fmt::format_to(
        std::back_inserter(part),
        "<figure class=\"card\"><img alt=\"\" src=\"data:image/svg+xml;base64,{}\"/>"
        "<figcaption>the search that led to {}; {} exchanged beside its own run</figcaption></figure>\n",
        base64(read_file(picture, kMostTextBytes)), escape_markup(run.name),
        human_bytes(static_cast<double>(run.search_bytes)));
  }
  return part.empty() ? "" : "<h2>Searches</h2>\n<div class=\"searches\">\n" + part + "</div>\n";
}

std::string bytes_part(const PageRuns& shown) {
  std::vector<std::vector<LayerBytes>> layers(shown.groups.size());
  double most = 0;
  for (size_t i = 0; i < shown.groups.size(); ++i) {
    const auto& config = shown.first_of(i).parsed_config;
    if (!config || !quickly_drawn(*config)) continue;
    try {
      layers[i] = bytes_by_layer(shown.first_of(i), *config);
    } catch (const Error&) {
      continue;  // settings of another version, or a model file that is gone
    }
    LayerBytes sum;
    for (const LayerBytes& layer : layers[i]) {
      sum.down += layer.down;
      sum.up += layer.up;
    }
    most = std::max({most, sum.down, sum.up});
  }
  Layers known;
  std::string rows;
  for (size_t i = 0; i < layers.size(); ++i) {
    if (layers[i].empty()) continue;
    rows += fmt::format("<tr data-s=\"{0}\"><td class=\"t run\" title=\"{1}\">{1}</td>", i,
                        escape_markup(shown.groups[i].name));
    rows += bar_cell(layers[i], &LayerBytes::down, most, known) +
            bar_cell(layers[i], &LayerBytes::up, most, known) + "</tr>\n";
  }
  if (rows.empty()) return "";
  std::string key;
  for (size_t i = 0; i < known.names().size(); ++i) {
    key += fmt::format(
        "<span><svg class=\"chart\" viewBox=\"0 0 12 12\" width=\"12\" height=\"12\"><rect class=\"d{}\" "
        "width=\"12\" "
        "height=\"12\" rx=\"2\"/></svg>{}</span>\n",
        i % kChartColours, escape_markup(known.names()[i]));
  }
  return fmt::format(
      "<h2>Bytes by layer and direction</h2>\n<p>Those of the first round, dealt to the layers by the "
      "weights that "
      "its clients held.</p>\n<div class=\"card wide\">\n<div class=\"key\">{}</div>\n<table class=\"bars "
      "sortable\">\n<thead><tr><th class=\"t\">run</th><th class=\"t\"></th><th>down</th><th "
      "class=\"t\"></th>"
      "<th>up</th></tr></thead>\n<tbody>\n{}</tbody>\n</table>\n</div>\n",
      key, rows);
}

}  // namespace subfleet
