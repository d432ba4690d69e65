#include "report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "base/text.h"
#include "report/output_file.h"

namespace subfleet {
namespace {

constexpr double kPageWidth = 600;  // on a page, charts stand side by side
constexpr double kLeft = 74, kRight = 28, kTitleBase = 32, kLegendTop = 56, kLegendRow = 22, kBottom = 58;
constexpr size_t kColours = 7;
constexpr size_t kMostDots = 120;  // of one series; more would only slow a page down

// Okabe and Ito's colours, told apart with any colour vision; a little lighter on dark. Beyond seven, lines
// are dashed.
constexpr std::string_view kStyle = R"css(
.chart{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;font-size:12.5px}
.chart .paper{fill:#fff;stroke:#e3e6ea}
.chart text{fill:#57606a}
.chart .title{font-size:16px;font-weight:600;fill:#1f2328}
.chart .name{font-size:13px;fill:#1f2328}
.chart .grid{stroke:#e9ecef;stroke-width:1}
.chart .axis{stroke:#8c959f;stroke-width:1}
.chart .line{fill:none;stroke-width:2.25;stroke-linejoin:round;stroke-linecap:round}
.chart .dot{stroke:none;fill-opacity:0}
.chart .dot:hover{fill-opacity:1}
.chart .end{stroke:#fff;stroke-width:1.5}
.chart .level{stroke:#1f2328;stroke-width:1.25;stroke-dasharray:5 4}
.chart .over{paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}
.chart .band{stroke:none;fill-opacity:.13}
.chart .s0{stroke:#0072b2}.chart .d0{fill:#0072b2}
.chart .s1{stroke:#d55e00}.chart .d1{fill:#d55e00}
.chart .s2{stroke:#009e73}.chart .d2{fill:#009e73}
.chart .s3{stroke:#b5548a}.chart .d3{fill:#b5548a}
.chart .s4{stroke:#c98a00}.chart .d4{fill:#c98a00}
.chart .s5{stroke:#3a9bd9}.chart .d5{fill:#3a9bd9}
.chart .s6{stroke:#6e7781}.chart .d6{fill:#6e7781}
)css";
constexpr std::string_view kDarkStyle = R"css(@media(prefers-color-scheme:dark){
.chart .paper{fill:#12161c;stroke:#2a313a}
.chart text{fill:#9aa4af}
.chart .title,.chart .name{fill:#e6edf3}
.chart .grid{stroke:#232a33}
.chart .axis{stroke:#56606b}
.chart .end{stroke:#12161c}
.chart .level{stroke:#e6edf3}
.chart .over{stroke:#12161c}
.chart .s0{stroke:#4aa8e8}.chart .d0{fill:#4aa8e8}
.chart .s1{stroke:#ff8a3d}.chart .d1{fill:#ff8a3d}
.chart .s2{stroke:#2fc79a}.chart .d2{fill:#2fc79a}
.chart .s3{stroke:#e08fbd}.chart .d3{fill:#e08fbd}
.chart .s4{stroke:#f0b429}.chart .d4{fill:#f0b429}
.chart .s5{stroke:#86cbf5}.chart .d5{fill:#86cbf5}
.chart .s6{stroke:#aab4be}.chart .d6{fill:#aab4be}
}
)css";

std::string_view dashes(size_t series) {
  constexpr std::array<std::string_view, 3> kDashes{"", " stroke-dasharray=\"7 5\"",
                                                    " stroke-dasharray=\"2 5\""};
  return kDashes[series / kColours % kDashes.size()];
}

struct LegendEntry {
  std::string name;
  double x = 0, y = 0;
};

// Names side by side, in as many rows as that takes. The widths are guesses from the number of letters.
std::vector<LegendEntry> legend_of(const Chart& chart, double chart_width) {
  constexpr double kSample = 30, kLetter = 7.4, kGap = 22;
  constexpr size_t kLongestName = 60;
  std::vector<LegendEntry> entries;
  double x = kLeft, y = kLegendTop;
  for (const auto& series : chart.series) {
    const std::string name = clip_text(printable(series.name), kLongestName);
    const double width = kSample + kLetter * static_cast<double>(text_width(name)) + kGap;
    if (x > kLeft && x + width - kGap > chart_width - kRight) {
      x = kLeft;
      y += kLegendRow;
    }
    entries.push_back({.name = name, .x = x, .y = y});
    x += width;
  }
  return entries;
}

class SvgWriter {
 public:
  SvgWriter(const Chart& chart, const SvgLook& look)
      : chart_(chart), look_(look), axes_(chart_axes(chart, 8, 6)), legend_(legend_of(chart, look.width)) {
    top_ = (legend_.empty() ? kTitleBase : legend_.back().y) + 22;
    bottom_ = top_ + look_.plot_height;
    height_ = bottom_ + kBottom;
  }

  std::string write(bool as_file) {
    add(R"(<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {:g} {:g}" role="img" aria-label="{}")",
        look_.width, height_, escape_markup(chart_.title));
    if (as_file) add(R"( width="{:g}" height="{:g}" {})", look_.width, height_, kChartMarker);
    svg_ += ">\n";
    if (as_file) {
      add("<style>{}{}</style>\n", kStyle, look_.follows_reader ? kDarkStyle : "");
      add(R"(<rect class="paper" x=".5" y=".5" width="{:g}" height="{:g}" rx="8"/>)", look_.width - 1,
          height_ - 1);
      svg_ += "\n";
    }
    write_frame();
    write_legend();
    for (size_t i = 0; i < chart_.series.size(); ++i) write_band(i);
    bool empty = true;
    for (size_t i = 0; i < chart_.series.size(); ++i) empty &= !write_series(i);
    write_level();
    if (empty) {
      add(R"(<text x="{:g}" y="{:g}" text-anchor="middle">nothing measured yet</text>)",
          (kLeft + look_.width - kRight) / 2, (top_ + bottom_) / 2);
      svg_ += "\n";
    }
    return svg_ + "</svg>\n";
  }

 private:
  template <typename... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(svg_), format, std::forward<Arguments>(arguments)...);
  }

  double x_of(double value) const { return kLeft + axes_.x.place(value) * (look_.width - kLeft - kRight); }
  double y_of(double value) const { return bottom_ - axes_.y.place(value) * look_.plot_height; }

  void write_frame() {
    add("<text class=\"title\" x=\"{:g}\" y=\"{:g}\">{}</text>\n", kLeft, kTitleBase,
        escape_markup(chart_.title));
    for (const double tick : axes_.y.ticks) {
      const double y = y_of(tick);
      add("<path class=\"grid\" d=\"M{:g} {:.1f}H{:g}\"/>", kLeft, y, look_.width - kRight);
      add("<text x=\"{:g}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft - 9, y + 4.5,
          tick_label(tick, chart_.y_unit));
    }
    for (const double tick : axes_.x.ticks) {
      const double x = x_of(tick);
      add("<path class=\"grid\" d=\"M{:.1f} {:g}V{:g}\"/>", x, top_, bottom_);
      add("<text x=\"{:.1f}\" y=\"{:g}\" text-anchor=\"middle\">{}</text>\n", x, bottom_ + 20,
          tick_label(tick, chart_.x_unit));
    }
    add("<path class=\"axis\" d=\"M{:g} {:g}H{:g}\"/>\n", kLeft, bottom_, look_.width - kRight);
    add("<text x=\"{:g}\" y=\"{:g}\" text-anchor=\"middle\">{}{}</text>\n",
        (kLeft + look_.width - kRight) / 2, bottom_ + 43, escape_markup(chart_.x_label),
        chart_.log_x ? " (log scale)" : "");
    add("<text transform=\"translate(20 {:g}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
        (top_ + bottom_) / 2, escape_markup(chart_.y_label));
  }

  void write_legend() {
    for (size_t i = 0; i < legend_.size(); ++i) {
      const auto& [name, x, y] = legend_[i];
      add("<path class=\"line s{}\"{} d=\"M{:g} {:g}h20\"/>", i % kColours, dashes(i), x + 1, y - 4.5);
      add("<text class=\"name\" x=\"{:g}\" y=\"{:g}\">{}</text>\n", x + 30, y, escape_markup(name));
    }
  }

  void write_level() {
    if (!chart_.level || !can_place({axes_.x.high, chart_.level->y}, chart_)) return;
    const double y = y_of(chart_.level->y);
    add("<path class=\"level\" d=\"M{:g} {:.1f}H{:g}\"/>", kLeft, y, look_.width - kRight);
    add("<text class=\"name over\" x=\"{:g}\" y=\"{:.1f}\">{}</text>\n", kLeft + 8, y - 7,
        escape_markup(chart_.level->name));
  }

  // Along the upper edge and back along the lower one.
  void write_band(size_t index) {
    const std::vector<Spread>& band = chart_.series[index].band;
    std::string path;
    const auto go_to = [&](double x, double y) {
      fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x_of(x), y_of(y));
    };
    for (const Spread& spread : band) go_to(spread.x, spread.high);
    for (auto spread = band.rbegin(); spread != band.rend(); ++spread) go_to(spread->x, spread->low);
    if (!path.empty()) add("<path class=\"band d{}\" d=\"{}Z\"/>\n", index % kColours, path);
  }

  // False if there was nothing to draw.
  bool write_series(size_t index) {
    const Series& series = chart_.series[index];
    std::string path;
    std::vector<Point> placed;
    bool gap = true;
    for (const auto& point : series.points) {
      if (!can_place(point, chart_)) {
        gap = true;
        continue;
      }
      fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", gap ? "M" : "L", x_of(point.x),
                     y_of(point.y));
      gap = false;
      placed.push_back(point);
    }
    if (placed.empty()) return false;
    add("<path class=\"line s{}\"{} d=\"{}\"/>\n", index % kColours, dashes(index), path);
    const size_t stride = (placed.size() + kMostDots - 1) / kMostDots;
    for (size_t i = 0; i < placed.size(); ++i) {
      const bool end = i + 1 == placed.size();
      if (i % stride == 0 || end) write_dot(index, placed[i], end || chart_.marked);
    }
    return true;
  }

  // Shows its values under the pointer; itself only if it is to be seen, like the last one of a line.
  void write_dot(size_t index, const Point& point, bool seen) {
    const auto value = [](double number, Unit unit) {
      return unit == Unit::kBytes     ? human_bytes(number)
             : unit == Unit::kPercent ? human_percent(number)
                                      : fmt::format("{:.6g}", number);
    };
    add("<circle class=\"{} d{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.5\"><title>{}: {} {}, {} "
        "{}</title></circle>\n",
        seen ? "end" : "dot", index % kColours, x_of(point.x), y_of(point.y),
        escape_markup(chart_.series[index].name), escape_markup(chart_.x_label),
        value(point.x, chart_.x_unit), escape_markup(chart_.y_label), value(point.y, chart_.y_unit));
  }

  const Chart& chart_;
  SvgLook look_;
  Axes axes_;
  std::vector<LegendEntry> legend_;
  double top_ = 0, bottom_ = 0, height_ = 0;
  std::string svg_;
};

}  // namespace

bool can_place(const Point& point, const Chart& chart) {
  constexpr double kHuge = 1e300;
  return std::abs(point.x) < kHuge && std::abs(point.y) < kHuge && (!chart.log_x || point.x > 1 / kHuge) &&
         (!chart.y_from || point.y >= *chart.y_from);
}

Axes chart_axes(const Chart& chart, size_t most_x_ticks, size_t most_y_ticks) {
  constexpr double kHeadroom = 1.05;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Point low{kInfinity, chart.y_from.value_or(0)}, high{-kInfinity, -kInfinity};
  const auto hold = [&](const Point& point) {
    if (!can_place(point, chart)) return;
    low = {std::min(low.x, point.x), std::min(low.y, point.y)};
    high = {std::max(high.x, point.x), std::max(high.y, point.y)};
  };
  for (const auto& series : chart.series) {
    for (const auto& point : series.points) hold(point);
    for (const auto& spread : series.band) hold({spread.x, spread.high});
  }
  if (chart.level) high.y = std::max(high.y, chart.level->y);
  if (low.x > high.x) {
    low = {chart.log_x ? 1.0 : 0.0, 0};
    high = {chart.log_x ? 10.0 : 1.0, 1};
  }
  if (!chart.log_x) low.x = std::min(low.x, 0.0);
  double top = low.y + (high.y - low.y) * kHeadroom;
  if (chart.y_unit == Unit::kPercent && high.y <= 1) top = std::min(top, 1.0);
  return {.x = make_axis({.low = low.x,
                          .high = high.x,
                          .log = chart.log_x,
                          .unit = chart.x_unit,
                          .most_ticks = most_x_ticks}),
          .y = make_axis({.low = low.y, .high = top, .unit = chart.y_unit, .most_ticks = most_y_ticks})};
}

std::string svg_file(const Chart& chart, const SvgLook& look) { return SvgWriter(chart, look).write(true); }
std::string svg_element(const Chart& chart) { return SvgWriter(chart, {.width = kPageWidth}).write(false); }
std::string chart_style() { return fmt::format("{}{}", kStyle, kDarkStyle); }

}  // namespace subfleet
