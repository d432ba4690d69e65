#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/axis.h"

namespace subfleet {

struct Point {
  double x = 0, y = 0;
};

struct Series {
  std::string name;
  std::vector<Point> points;  // x rising; a point that is not finite leaves a gap in the line
};

// A line chart. What cannot be placed (non-finite; x <= 0 on a log axis) is left out.
struct Chart {
  std::string title, x_label, y_label;
  Unit x_unit = Unit::kPlain, y_unit = Unit::kPercent;
  bool log_x = false;
  bool marked = false;  // every point is to be seen, not only the lines
  std::vector<Series> series;
};

bool can_place(const Point& point, const Chart& chart);

// The axes of a chart: both hold every point; linear axes begin at 0, or below if a value is.
struct Axes {
  Axis x, y;
};
Axes chart_axes(const Chart& chart, size_t most_x_ticks, size_t most_y_ticks);

// The chart as a whole SVG file, with its own style and background: readable on a light and on a dark page.
std::string svg_file(const Chart& chart);

// The chart as an <svg> element for a page that has chart_style() in its style sheet.
std::string svg_element(const Chart& chart);
std::string_view chart_style();

}  // namespace subfleet
