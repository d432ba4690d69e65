#include "subfleet/charts/chart.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace subfleet {

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
    for (const auto* band : {&series.band, &series.outer_band}) {
      for (const auto& spread : *band) hold({spread.x, spread.high});
    }
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

}  // namespace subfleet
