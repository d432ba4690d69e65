#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "charts/chart_style.h"
#include "subfleet/base/text.h"
#include "subfleet/charts/chart.h"

namespace subfleet {
namespace {

constexpr double kPageWidth = 600, kPageHeight = 280;  // on a page, charts stand side by side
constexpr double kLeft = 74, kRight = 28, kTitleBase = 32, kLegendTop = 56, kLegendRow = 22, kBottom = 58;
constexpr size_t kMostDots = 50;         // of one series
constexpr size_t kMostPagePoints = 400;  // of one series: more than a page has pixels for

constexpr std::array<std::string_view, 3> kDashes{"", " stroke-dasharray=\"7 5\"",
                                                  " stroke-dasharray=\"2 5\""};

// What distinguishes a line from others.
struct LineLook {
  size_t colour = 0;
  std::string_view dashes;
};

LineLook look_by_place(size_t series) {
  return {.colour = series % kChartColours, .dashes = kDashes[series / kChartColours % kDashes.size()]};
}

size_t place_in(std::vector<std::string_view>& parts, std::string_view part) {
  const auto place = std::ranges::find(parts, part) - parts.begin();
  if (static_cast<size_t>(place) == parts.size()) parts.push_back(part);
  return static_cast<size_t>(place);
}

// If names combine a few parts, like "gold, FAVG" and "same, FedAdam", the part before the comma decides the
// colour and the part after it the dashes. Otherwise each series has its own look.
std::vector<LineLook> looks_of(const Chart& chart) {
  std::vector<LineLook> by_place, by_name;
  std::vector<std::string_view> firsts, seconds;
  bool split = true;
  for (const Series& series : chart.series) {
    by_place.push_back(look_by_place(by_place.size()));
    const std::string_view name = series.name;
    const size_t comma = name.rfind(", ");
    split = split && comma != std::string_view::npos;
    if (!split) continue;
    const size_t colour = place_in(firsts, name.substr(0, comma));
    const size_t dashes = place_in(seconds, name.substr(comma));
    by_name.push_back({.colour = colour, .dashes = kDashes[dashes % kDashes.size()]});
  }
  const bool combined = split && firsts.size() > 1 && seconds.size() > 1 && firsts.size() <= kChartColours &&
                        seconds.size() <= kDashes.size() && chart.series.size() > firsts.size();
  return combined ? by_name : by_place;
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
      : chart_(chart), look_(look), axes_(chart_axes(chart, 8, 6)) {
    for (size_t i = 0; i < chart.series.size(); ++i) looks_.push_back(look_by_place(i));
  }

  // With a style, a background and a legend of its own, and values under the pointer.
  std::string write_file() {
    legend_ = legend_of(chart_, look_.width);
    looks_ = looks_of(chart_);
    place();
    open_element(fmt::format(R"( width="{:g}" height="{:g}" {})", look_.width, height_, kChartMarker));
    add("<style>{}{}</style>\n", kChartStyle, look_.follows_reader ? kDarkChartStyle : "");
    add(R"(<rect class="paper" x=".5" y=".5" width="{:g}" height="{:g}" rx="8"/>)", look_.width - 1,
        height_ - 1);
    svg_ += "\n";
    write_frame();
    write_legend();
    for (size_t i = 0; i < chart_.series.size(); ++i) write_bands(i);
    bool empty = true;
    for (size_t i = 0; i < chart_.series.size(); ++i) empty &= !write_dotted_line(i);
    write_level();
    return end_element(empty);
  }

  // For a page, whose script shows and hides the series: each is a group with its values, each axis says how
  // it maps them.
  std::string write_element() {
    place();
    const auto axis = [](const Axis& a, Unit unit, double from, double to) {
      return fmt::format("{:.9g} {:.9g} {} {} {:g} {:g}", a.low, a.high, a.log ? 1 : 0,
                         static_cast<int>(unit), from, to);
    };
    open_element(fmt::format(R"( data-x="{}" data-y="{}" data-label="{}")",
                             axis(axes_.x, chart_.x_unit, kLeft, look_.width - kRight),
                             axis(axes_.y, chart_.y_unit, bottom_, top_), escape_markup(chart_.x_label)));
    write_frame();
    bool empty = true;
    for (size_t i = 0; i < chart_.series.size(); ++i) {
      add("<g data-s=\"{}\">\n", i);
      write_bands(i);
      empty &= !write_valued_line(i);
      svg_ += "</g>\n";
    }
    return end_element(empty);
  }

 private:
  template <typename... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(svg_), format, std::forward<Arguments>(arguments)...);
  }

  void place() {
    top_ = (legend_.empty() ? kTitleBase : legend_.back().y) + 22;
    bottom_ = top_ + look_.plot_height;
    height_ = bottom_ + kBottom;
  }

  void open_element(const std::string& attributes) {
    add(R"(<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {:g} {:g}" role="img" aria-label="{}"{}>)",
        look_.width, height_, escape_markup(chart_.title), attributes);
    svg_ += "\n";
  }

  std::string end_element(bool empty) {
    if (empty) {
      add(R"(<text x="{:g}" y="{:g}" text-anchor="middle">nothing measured yet</text>)",
          (kLeft + look_.width - kRight) / 2, (top_ + bottom_) / 2);
      svg_ += "\n";
    }
    return std::move(svg_) + "</svg>\n";
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
      if (chart_.points_alone && chart_.series[i].band.empty()) {
        add("<path class=\"level\" d=\"M{:g} {:g}h20\"/>", x + 1, y - 4.5);
      } else {
        add("<path class=\"line s{}\"{} d=\"M{:g} {:g}h20\"/>", looks_[i].colour, looks_[i].dashes, x + 1,
            y - 4.5);
      }
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

  void write_bands(size_t index) {
    if (chart_.points_alone) return write_error_bars(index);
    write_band(chart_.series[index].outer_band, "outer", index);
    write_band(chart_.series[index].band, "band", index);
  }

  void write_error_bars(size_t index) {
    constexpr double kHalf = 4;
    for (const Spread& spread : chart_.series[index].band) {
      const double x = x_of(spread.x), high = y_of(spread.high), low = y_of(spread.low);
      add("<path class=\"error s{}\" d=\"M{:.1f} {:.1f}h{:g}M{:.1f} {:.1f}V{:.1f}M{:.1f} {:.1f}h{:g}\"/>\n",
          looks_[index].colour, x - kHalf, high, 2 * kHalf, x, high, low, x - kHalf, low, 2 * kHalf);
    }
  }

  // Along the upper edge and back along the lower one.
  void write_band(const std::vector<Spread>& band, std::string_view style, size_t index) {
    std::string path;
    const auto go_to = [&](double x, double y) {
      fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x_of(x), y_of(y));
    };
    for (const Spread& spread : band) go_to(spread.x, spread.high);
    for (auto spread = band.rbegin(); spread != band.rend(); ++spread) go_to(spread->x, spread->low);
    if (!path.empty()) add("<path class=\"{} d{}\" d=\"{}Z\"/>\n", style, looks_[index].colour, path);
  }

  // The points of a series that can be placed, and the path through them.
  struct Line {
    std::vector<Point> placed;
    std::string path;
  };
  Line line_of(const Series& series) const {
    Line line;
    bool gap = true;
    for (const Point& point : series.points) {
      if (!can_place(point, chart_)) {
        gap = true;
        continue;
      }
      fmt::format_to(std::back_inserter(line.path), "{}{:.1f} {:.1f}", gap ? "M" : "L", x_of(point.x),
                     y_of(point.y));
      gap = false;
      line.placed.push_back(point);
    }
    return line;
  }

  // False if there was nothing to draw.
  bool write_dotted_line(size_t index) {
    const auto [placed, path] = line_of(chart_.series[index]);
    if (placed.empty()) return false;
    if (!chart_.points_alone) {
      add("<path class=\"line s{}\"{} d=\"{}\"/>\n", looks_[index].colour, looks_[index].dashes, path);
    } else if (chart_.series[index].band.empty()) {
      add("<path class=\"level\" d=\"{}\"/>\n", path);
      return true;
    }
    const size_t stride = (placed.size() + kMostDots - 1) / kMostDots;
    for (size_t i = 0; i < placed.size(); ++i) {
      const bool end = i + 1 == placed.size();
      if (i % stride == 0 || end) write_dot(index, placed[i], end || chart_.marked);
    }
    return true;
  }

  bool write_valued_line(size_t index) {
    const auto [placed, path] = line_of(chart_.series[index]);
    if (placed.empty()) return false;
    std::string values;
    for (const Point& point : placed)
      fmt::format_to(std::back_inserter(values), "{:.6g} {:.5g} ", point.x, point.y);
    values.pop_back();
    add("<path class=\"line s{}\"{} d=\"{}\" data-v=\"{}\"/>", looks_[index].colour, looks_[index].dashes,
        path, values);
    add("<circle class=\"end d{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"/>\n", looks_[index].colour,
        x_of(placed.back().x), y_of(placed.back().y));
    return true;
  }

  // Shows its values under the pointer. The dot itself shows only if `seen`, like the last one of a line.
  void write_dot(size_t index, const Point& point, bool seen) {
    const auto value = [](double number, Unit unit) {
      return unit == Unit::kBytes     ? human_bytes(number)
             : unit == Unit::kPercent ? human_percent(number)
                                      : fmt::format("{:.6g}", number);
    };
    add("<circle class=\"{} d{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.5\"><title>{}: {} {}, {} "
        "{}</title></circle>\n",
        seen ? "end" : "dot", looks_[index].colour, x_of(point.x), y_of(point.y),
        escape_markup(chart_.series[index].name), escape_markup(chart_.x_label),
        value(point.x, chart_.x_unit), escape_markup(chart_.y_label), value(point.y, chart_.y_unit));
  }

  const Chart& chart_;
  SvgLook look_;
  Axes axes_;
  std::vector<LegendEntry> legend_;
  std::vector<LineLook> looks_;  // of each series
  double top_ = 0, bottom_ = 0, height_ = 0;
  std::string svg_;
};

// Evenly spaced ones of very many, and the last.
template <typename Value>
void thin_out(std::vector<Value>& values) {
  if (values.size() <= kMostPagePoints) return;
  const size_t stride = (values.size() + kMostPagePoints - 1) / kMostPagePoints;
  std::vector<Value> kept;
  for (size_t i = 0; i + 1 < values.size(); i += stride) kept.push_back(values[i]);
  kept.push_back(values.back());
  values = std::move(kept);
}

}  // namespace

std::string svg_file(const Chart& chart, const SvgLook& look) { return SvgWriter(chart, look).write_file(); }

std::string svg_element(const Chart& chart) {
  Chart thinned = chart;
  for (Series& series : thinned.series) {
    thin_out(series.points);
    thin_out(series.band);
    thin_out(series.outer_band);
  }
  return SvgWriter(thinned, {.width = kPageWidth, .plot_height = kPageHeight}).write_element();
}

std::string line_sample(size_t series) {
  const LineLook look = look_by_place(series);
  return fmt::format(
      R"(<svg class="chart" viewBox="0 0 26 10" width="26" height="10"><path class="line s{}"{} d="M2 5h22"/></svg>)",
      look.colour, look.dashes);
}

std::string chart_style() { return fmt::format("{}{}", kChartStyle, kDarkChartStyle); }

}  // namespace subfleet
