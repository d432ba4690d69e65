#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "subfleet/charts/axis.h"

namespace subfleet {

struct Point {
  double x = 0, y = 0;
};

// How far values spread at x.
struct Spread {
  double x = 0, low = 0, high = 0;
};

struct Series {
  std::string name;
  std::vector<Point> points;            // x rising; a point that is not finite leaves a gap in the line
  std::vector<Spread> band = {};        // drawn lightly behind the line; x rising, and all can be placed.
                                        // Of a chart of points: their error bars
  std::vector<Spread> outer_band = {};  // drawn more lightly still
};

// A value of y that lines are to reach.
struct Level {
  double y = 0;
  std::string name;
};

// A chart of lines, or of points that nothing connects. What cannot be placed (non-finite; x <= 0 on a log
// axis; below y_from) is left out.
struct Chart {
  std::string title, x_label, y_label;
  Unit x_unit = Unit::kPlain, y_unit = Unit::kPercent;
  bool log_x = false;
  bool marked = false;        // every point is to be seen, not only the lines
  bool points_alone = false;  // without lines; but for a series without a band, a dashed one
  std::optional<double> y_from = std::nullopt;  // where y begins, instead of at 0
  std::optional<Level> level = std::nullopt;
  std::vector<Series> series;
};

bool can_place(const Point& point, const Chart& chart);

// The axes of a chart: both hold every point; linear axes begin at 0, or below if a value is, unless y_from
// says where.
struct Axes {
  Axis x, y;
};
Axes chart_axes(const Chart& chart, size_t most_x_ticks, size_t most_y_ticks);

// What every chart file of ours says near its beginning.
inline constexpr std::string_view kChartMarker = R"(data-generator="subfleet")";

// The chart as a whole SVG file, with its own style and background: readable on a light and on a dark page.
struct SvgLook {
  double width = 760, plot_height = 270;
  bool follows_reader = true;  // dark where the reader's setting is; else always light
};
std::string svg_file(const Chart& chart, const SvgLook& look = {});

// The chart as an <svg> element for a page that has chart_style() in its style sheet, page_script() to show
// values under the pointer, and a legend with a line_sample() of each series.
std::string svg_element(const Chart& chart);
std::string line_sample(size_t series);
std::string chart_style();

}  // namespace subfleet
