#include "subfleet/charts/text_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "subfleet/base/text.h"

namespace subfleet {
namespace {

constexpr std::array<std::string_view, 6> kUnicodeMarks{"●", "○", "■", "□", "▲", "△"};
constexpr std::array<std::string_view, 6> kPlainMarks{"*", "o", "+", "x", "#", "@"};
constexpr std::array kColours{34, 33, 32, 35, 36, 31};

struct Cell {
  uint8_t dots = 0;             // Braille bits
  std::optional<size_t> owner;  // the series drawn last
  bool mark = false;
};

std::string braille(uint8_t dots) {  // U+2800 + dots, as UTF-8
  const unsigned point = 0x2800U + dots;
  return {static_cast<char>(0xE0U | (point >> 12U)), static_cast<char>(0x80U | ((point >> 6U) & 0x3FU)),
          static_cast<char>(0x80U | (point & 0x3FU))};
}

std::string without_end_spaces(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

// Cells of columns x rows, each of 2 x 4 dots (Unicode) or one (plain). Row 0 is on top.
class Canvas {
 public:
  Canvas(size_t columns, size_t rows, const TextChartStyle& style)
      : columns_(columns),
        rows_(rows),
        style_(style),
        across_(style.unicode ? 2 : 1),
        down_(style.unicode ? 4 : 1),
        cells_(columns * rows) {}

  // A straight line between two places, given as parts of the width and the height (from the bottom).
  void line(size_t series, Point from, Point to) {
    const auto [x0, y0] = dot_at(from);
    const auto [x1, y1] = dot_at(to);
    const long steps = std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1L});
    for (long i = 0; i <= steps; ++i) {
      dot(series, x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps);
    }
  }

  // The series' own letter at a place, unless another one stands there.
  void mark(size_t series, Point at) {
    const auto [x, y] = dot_at(at);
    Cell& cell = cell_at(x, y);
    if (cell.mark) return;
    cell.mark = true;
    cell.owner = series;
  }

  std::string row(size_t index) const {
    std::string text;
    std::optional<size_t> colour;
    for (size_t column = 0; column < columns_; ++column) {
      const Cell& cell = cells_[index * columns_ + column];
      if (style_.colour && cell.owner != colour) {
        text += cell.owner ? fmt::format("\x1b[{}m", kColours[*cell.owner % kColours.size()]) : "\x1b[0m";
        colour = cell.owner;
      }
      text += glyph(cell);
    }
    if (colour) text += "\x1b[0m";
    return without_end_spaces(std::move(text));
  }

 private:
  struct Dot {
    long x, y;
  };

  Dot dot_at(Point part) const {
    const auto nearest = [](double fraction, size_t count) {
      const double clamped = std::clamp(fraction, 0.0, 1.0);
      return std::lround(clamped * static_cast<double>(count - 1));
    };
    return {nearest(part.x, columns_ * across_), nearest(1 - part.y, rows_ * down_)};
  }

  Cell& cell_at(long x, long y) {
    return cells_[static_cast<size_t>(y) / down_ * columns_ + static_cast<size_t>(x) / across_];
  }

  void dot(size_t series, long x, long y) {
    constexpr std::array<std::array<uint8_t, 2>, 4> kBits{
        {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
    Cell& cell = cell_at(x, y);
    cell.dots |= kBits[static_cast<size_t>(y) % down_][static_cast<size_t>(x) % across_];
    if (!cell.mark) cell.owner = series;
  }

  std::string glyph(const Cell& cell) const {
    if (!cell.owner) return " ";
    const size_t mark = *cell.owner % kPlainMarks.size();
    if (!style_.unicode) return std::string(kPlainMarks[mark]);
    return cell.mark ? std::string(kUnicodeMarks[mark]) : braille(cell.dots);
  }

  size_t columns_, rows_;
  TextChartStyle style_;
  size_t across_, down_;
  std::vector<Cell> cells_;
};

void draw_series(Canvas& canvas, const Chart& chart, const Axes& axes, size_t index) {
  const auto part_of = [&](const Point& point) {
    return Point{axes.x.place(point.x), axes.y.place(point.y)};
  };
  Point before;
  bool gap = true;
  for (const auto& point : chart.series[index].points) {
    if (!can_place(point, chart)) {
      gap = true;
      continue;
    }
    const Point here = part_of(point);
    canvas.line(index, gap ? here : before, here);
    before = here;
    gap = false;
  }
}

// A mark at the end of the line and some on the way, or on every point; staggered so that lines close
// together show theirs in turn.
void mark_series(Canvas& canvas, const Chart& chart, const Axes& axes, size_t index, size_t columns) {
  constexpr size_t kEvery = 18, kShift = 7;
  const double spacing = static_cast<double>(kEvery) / static_cast<double>(columns);
  double next = spacing * (0.5 + static_cast<double>(index * kShift % kEvery) / kEvery);
  std::optional<Point> last;
  for (const auto& point : chart.series[index].points) {
    if (!can_place(point, chart)) continue;
    last = Point{axes.x.place(point.x), axes.y.place(point.y)};
    if (last->x < next && !chart.marked) continue;
    canvas.mark(index, *last);
    while (next <= last->x) next += spacing;
  }
  if (last) canvas.mark(index, *last);
}

struct Frame {
  std::string_view side, tick, corner, bottom, bottom_tick;
};

// The x axis with its ticks, and the labels under it where they do not touch.
std::string bottom_rows(const Axis& axis, const Frame& frame, size_t margin, size_t columns) {
  std::vector<bool> ticked(columns, false);
  std::string labels;
  const size_t width = margin + 1 + columns;
  for (const double tick : axis.ticks) {
    const auto column = static_cast<size_t>(std::lround(axis.place(tick) * static_cast<double>(columns - 1)));
    ticked[column] = true;
    const std::string label = tick_label(tick, axis.unit);
    const size_t centre = margin + 1 + column;
    const size_t start =
        std::min(centre - std::min(centre, label.size() / 2), width - std::min(width, label.size()));
    if (!labels.empty() && start < labels.size() + 2) continue;
    labels = pad_right(labels, start);
    labels += label;
  }
  std::string line(margin, ' ');
  line += frame.corner;
  for (const bool tick : ticked) line += tick ? frame.bottom_tick : frame.bottom;
  return line + "\n" + labels + "\n";
}

std::string legend(const Chart& chart, const TextChartStyle& style, size_t margin) {
  std::string text, row(margin + 1, ' ');
  size_t taken = margin + 1;
  for (size_t i = 0; i < chart.series.size(); ++i) {
    const auto mark = (style.unicode ? kUnicodeMarks : kPlainMarks)[i % kPlainMarks.size()];
    const std::string name = clip_text(printable(chart.series[i].name), 40);
    const size_t width = 2 + text_width(name) + 3;
    if (taken > margin + 1 && taken + width > style.width + 3) {
      text += row + "\n";
      row.assign(margin + 1, ' ');
      taken = margin + 1;
    }
    row += style.colour ? fmt::format("\x1b[{}m{}\x1b[0m {}", kColours[i % kColours.size()], mark, name)
                        : fmt::format("{} {}", mark, name);
    row += "   ";
    taken += width;
  }
  return text + without_end_spaces(std::move(row)) + "\n";
}

}  // namespace

std::string text_chart(const Chart& chart, const TextChartStyle& style) {
  constexpr Frame kUnicodeFrame{"│", "┤", "└", "─", "┬"}, kPlainFrame{"|", "+", "+", "-", "+"};
  constexpr size_t kRowsAround = 4;  // the y label, the x axis, its labels, the x label
  const Frame& frame = style.unicode ? kUnicodeFrame : kPlainFrame;
  const size_t rows = std::max<size_t>(style.height, kRowsAround + 4) - kRowsAround;
  const Axes axes = chart_axes(chart, 6, std::max<size_t>(rows / 2, 2));

  std::vector<std::string> labels(rows);
  size_t margin = 0;
  for (const double tick : axes.y.ticks) {
    const auto row = std::lround((1 - axes.y.place(tick)) * static_cast<double>(rows - 1));
    labels[static_cast<size_t>(row)] = tick_label(tick, chart.y_unit) + " ";
  }
  for (const auto& label : labels) margin = std::max(margin, label.size());
  const size_t columns = std::max<size_t>(style.width, margin + 21) - margin - 1;

  Canvas canvas(columns, rows, style);
  for (size_t i = 0; i < chart.series.size(); ++i) draw_series(canvas, chart, axes, i);
  for (size_t i = 0; i < chart.series.size(); ++i) mark_series(canvas, chart, axes, i, columns);

  std::string text = std::string(margin, ' ') + printable(chart.y_label) + "\n";
  for (size_t row = 0; row < rows; ++row) {
    text += pad_left(labels[row], margin);
    text += labels[row].empty() ? frame.side : frame.tick;
    text += canvas.row(row) + "\n";
  }
  text += bottom_rows(axes.x, frame, margin, columns);
  text +=
      pad_left(printable(chart.x_label) + (chart.log_x ? " (log scale)" : ""), margin + 1 + columns) + "\n";
  return text + legend(chart, style, margin);
}

}  // namespace subfleet
