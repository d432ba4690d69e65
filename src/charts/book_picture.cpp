#include "subfleet/charts/book_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>
#include <vector>

#include "charts/bitmap_font.h"
#include "charts/canvas.h"
#include "subfleet/charts/axis.h"

namespace subfleet {
namespace {

// In pixels.
constexpr size_t kMargin = 30;
constexpr size_t kLeft = 130;            // where the plots begin: room for an axis and its label
constexpr size_t kHeading = 44;          // room for a heading above a plot
constexpr size_t kBelow = 66;            // room for an axis and its label below a plot
constexpr size_t kWide = 1440;           // at most, for the units
constexpr size_t kTall = 480;            // at most, for the clients
constexpr size_t kTallestRow = 24;       // of the words
constexpr size_t kCoverageHeight = 120;  // of the bars below the words
constexpr size_t kSquare = 440;          // at most, each side of the heat map
constexpr size_t kTick = 6;
constexpr size_t kLetter = 2 * kFontCapital;

constexpr size_t kMostPairRows = 2000;  // clients in the heat map
constexpr size_t kMostBars = 60;        // of a histogram

constexpr Colour kLine{0x8a, 0x92, 0x9c};
constexpr Colour kKept{0x1f, 0x4e, 0x79};
constexpr Colour kDropped{0xe6, 0xea, 0xef};
constexpr Colour kPartly{0x9d, 0xb8, 0xd3};  // some of the units that share a pixel
constexpr Colour kBeside{0xd9, 0x5f, 0x0e};
constexpr Colour kNoPair{0xff, 0xff, 0xff};

Colour mix(Colour from, Colour to, double share) {
  const auto channel = [&](uint8_t a, uint8_t b) {
    return static_cast<uint8_t>(std::lround(a + (b - a) * share));
  };
  return {channel(from.red, to.red), channel(from.green, to.green), channel(from.blue, to.blue)};
}

// From dark blue over green to yellow; `place` from 0 to 1.
Colour heat(double place) {
  constexpr std::array<Colour, 5> kStops{
      {{0x44, 0x01, 0x54}, {0x3b, 0x52, 0x8b}, {0x21, 0x91, 0x8c}, {0x5e, 0xc9, 0x62}, {0xfd, 0xe7, 0x25}}};
  const double at = std::clamp(place, 0.0, 1.0) * (kStops.size() - 1);
  const size_t stop = std::min<size_t>(static_cast<size_t>(at), kStops.size() - 2);
  return mix(kStops[stop], kStops[stop + 1], at - static_cast<double>(stop));
}

// How many pixels `cells` cells get: as many per cell as fit, or several cells per pixel.
size_t pixels_for(size_t cells, size_t most, size_t most_per_cell) {
  return cells > most ? most : cells * std::min(most / cells, most_per_cell);
}

// The cells that a pixel shows.
struct Cells {
  size_t first, end;
};
Cells cells_of(size_t pixel, size_t pixels, size_t cells) {
  const size_t first = pixel * cells / pixels;
  return {first, std::max(first + 1, (pixel + 1) * cells / pixels)};
}

struct Tick {
  double place;  // 0 at the beginning of the axis, 1 at its end
  std::string label;
};

// Whole numbers from low to high.
std::vector<double> whole_ticks(size_t low, size_t high, size_t most) {
  const auto first = static_cast<double>(low);
  if (low == high) return {first};
  return make_axis(
             {.low = first, .high = static_cast<double>(high), .unit = Unit::kCount, .most_ticks = most})
      .ticks;
}

// Of cells that are counted from `low` on, at their middles.
std::vector<Tick> cell_ticks(size_t cells, size_t most, size_t low = 0) {
  std::vector<Tick> ticks;
  for (const double tick : whole_ticks(low, low + cells - 1, most)) {
    const double place = (tick - static_cast<double>(low) + 0.5) / static_cast<double>(cells);
    ticks.push_back({place, tick_label(tick, Unit::kCount)});
  }
  return ticks;
}

std::vector<Tick> value_ticks(const Axis& axis) {
  std::vector<Tick> ticks;
  for (const double tick : axis.ticks) ticks.push_back({axis.place(tick), tick_label(tick, axis.unit)});
  return ticks;
}

size_t pixel_at(double place, size_t pixels) {
  return std::min(pixels - 1, static_cast<size_t>(std::floor(place * static_cast<double>(pixels))));
}

void draw_x_axis(Canvas& canvas, const Box& plot, std::span<const Tick> ticks, std::string_view label) {
  for (const Tick& tick : ticks) {
    const size_t x = plot.left + pixel_at(tick.place, plot.width);
    canvas.fill({x, plot.bottom() + 1, 1, kTick}, kLine);
    canvas.text(x, plot.bottom() + kTick + 5, tick.label, {.align = Align::kCentre});
  }
  canvas.text(plot.left + plot.width / 2, plot.bottom() + kTick + 5 + kLetter + 10, label,
              {.align = Align::kCentre});
}

enum class Upwards { kNo, kYes };
void draw_y_axis(Canvas& canvas, const Box& plot, std::span<const Tick> ticks, Upwards upwards) {
  for (const Tick& tick : ticks) {
    const double place = upwards == Upwards::kYes ? 1 - tick.place : tick.place;
    const size_t y = plot.top + pixel_at(place, plot.height);
    canvas.fill({plot.left - 1 - kTick, y, kTick, 1}, kLine);
    canvas.text(plot.left - kTick - 6, y - kLetter / 2, tick.label, {.align = Align::kRight});
  }
}

void draw_y_label(Canvas& canvas, const Box& plot, std::string_view label) {
  canvas.text_upwards(plot.left - 96, plot.top + plot.height / 2, label);
}

void draw_heading(Canvas& canvas, const Box& plot, std::string_view heading) {
  canvas.text(plot.left, plot.top - kLetter - 12, heading);
}

void draw_words(Canvas& canvas, const Box& plot, const CodeBook& book) {
  const bool lines = plot.height / book.rows() >= 6;
  for (size_t y = 0; y < plot.height; ++y) {
    const Cells rows = cells_of(y, plot.height, book.rows());
    if (lines && y + 1 < plot.height && cells_of(y + 1, plot.height, book.rows()).first != rows.first) {
      continue;  // a white line between rows
    }
    for (size_t x = 0; x < plot.width; ++x) {
      const Cells units = cells_of(x, plot.width, book.length());
      size_t kept = 0;
      for (size_t row = rows.first; row < rows.end; ++row) {
        for (size_t unit = units.first; unit < units.end; ++unit) kept += book.bit(row, unit) ? 1 : 0;
      }
      const size_t all = (rows.end - rows.first) * (units.end - units.first);
      canvas.fill({plot.left + x, plot.top + y, 1, 1},
                  mix(kDropped, kKept, static_cast<double>(kept) / static_cast<double>(all)));
    }
  }
  canvas.outline(plot, kLine);
  const bool several = plot.height < book.rows() || plot.width < book.length();
  draw_heading(canvas, plot,
               fmt::format("Words: the units that each client keeps are dark{}",
                           several ? "; a pixel is the mean of several" : ""));
  draw_y_axis(canvas, plot, cell_ticks(book.rows(), std::max<size_t>(2, plot.height / 40)), Upwards::kNo);
  draw_y_label(canvas, plot, "client");
}

std::vector<size_t> coverage_of(const CodeBook& book) {
  std::vector<size_t> coverage(book.length(), 0);
  for (size_t row = 0; row < book.rows(); ++row) {
    for (const uint32_t unit : book.kept(row)) ++coverage[unit];
  }
  return coverage;
}

void draw_coverage(Canvas& canvas, const Box& plot, const DrawnBook& drawn,
                   std::span<const size_t> coverage) {
  const Axis axis = make_axis({.high = 1.1 * static_cast<double>(drawn.quality.largest_coverage),
                               .unit = Unit::kCount,
                               .most_ticks = 4});
  const auto pixels_up_to = [&](double rows) {
    return static_cast<size_t>(std::lround(axis.place(rows) * static_cast<double>(plot.height)));
  };
  for (size_t x = 0; x < plot.width; ++x) {
    const Cells units = cells_of(x, plot.width, coverage.size());
    const auto [least, largest] = std::ranges::minmax(coverage.subspan(units.first, units.end - units.first));
    const size_t all = pixels_up_to(static_cast<double>(least));
    const size_t some = pixels_up_to(static_cast<double>(largest));
    canvas.fill({plot.left + x, plot.bottom() - some, 1, some}, kPartly);
    canvas.fill({plot.left + x, plot.bottom() - all, 1, all}, kKept);
  }
  canvas.outline(plot, kLine);
  const size_t mean = pixels_up_to(drawn.quality.mean_coverage);
  for (size_t x = 0; x < plot.width; x += 12) {
    const size_t dash = std::min<size_t>(6, plot.width - x);
    canvas.fill({plot.left + x, plot.bottom() - std::min(plot.height, mean + 1), dash, 2}, kBeside);
  }
  draw_heading(canvas, plot,
               fmt::format("Coverage: the clients that keep each unit; their mean, {:.2f}, is dashed",
                           drawn.quality.mean_coverage));
  draw_y_axis(canvas, plot, value_ticks(axis), Upwards::kYes);
  draw_y_label(canvas, plot, "clients");
  draw_x_axis(canvas, plot, cell_ticks(coverage.size(), 12), "unit");
}

// Overlaps of all pairs of the first rows, [row][row].
struct Overlaps {
  size_t rows;
  std::vector<size_t> shared{};

  explicit Overlaps(const CodeBook& book, size_t pair_rows)
      : rows(std::min(pair_rows, kMostPairRows)), shared(rows * rows) {
    std::vector<size_t> weights(rows);
    for (size_t row = 0; row < rows; ++row) {
      weights[row] = book.weight(row);
      for (size_t other = 0; other < row; ++other) {
        shared[row * rows + other] = shared[other * rows + row] =
            (weights[row] + weights[other] - book.distance(row, other)) / 2;
      }
    }
  }

  std::vector<size_t> of_pairs() const {
    std::vector<size_t> pairs;
    pairs.reserve(rows * (rows - 1) / 2);
    for (size_t row = 1; row < rows; ++row) {
      for (size_t other = 0; other < row; ++other) pairs.push_back(shared[row * rows + other]);
    }
    return pairs;
  }
};

void draw_colour_scale(Canvas& canvas, const Box& plot, size_t least, size_t largest) {
  for (size_t y = 0; y < plot.height; ++y) {
    const double place = 1 - (static_cast<double>(y) + 0.5) / static_cast<double>(plot.height);
    canvas.fill({plot.left, plot.top + y, plot.width, 1}, heat(least == largest ? 0 : place));
  }
  canvas.outline(plot, kLine);
  for (const double tick : whole_ticks(least, largest, 8)) {
    const double place =
        (tick - static_cast<double>(least)) / static_cast<double>(std::max<size_t>(1, largest - least));
    const size_t y = plot.top + pixel_at(1 - place, plot.height);
    canvas.fill({plot.right() + 1, y, kTick, 1}, kLine);
    canvas.text(plot.right() + kTick + 6, y - kLetter / 2, tick_label(tick, Unit::kCount));
  }
}

void draw_overlaps(Canvas& canvas, const Box& plot, const Overlaps& overlaps, size_t all_rows) {
  const std::vector<size_t> pairs = overlaps.of_pairs();
  const auto [least, largest] = std::ranges::minmax(pairs);
  const auto range = static_cast<double>(std::max<size_t>(1, largest - least));
  for (size_t y = 0; y < plot.height; ++y) {
    const Cells rows = cells_of(y, plot.height, overlaps.rows);
    for (size_t x = 0; x < plot.width; ++x) {
      const Cells others = cells_of(x, plot.width, overlaps.rows);
      size_t most = 0;
      bool any = false;
      for (size_t row = rows.first; row < rows.end; ++row) {
        for (size_t other = others.first; other < others.end; ++other) {
          if (row == other) continue;
          most = std::max(most, overlaps.shared[row * overlaps.rows + other]);
          any = true;
        }
      }
      canvas.fill({plot.left + x, plot.top + y, 1, 1},
                  any ? heat(static_cast<double>(most - least) / range) : kNoPair);
    }
  }
  canvas.outline(plot, kLine);
  draw_heading(canvas, plot,
               fmt::format("Overlap of two clients{}{}",
                           overlaps.rows < all_rows ? fmt::format(" (first {})", overlaps.rows) : "",
                           overlaps.rows > plot.width ? ", largest per pixel" : ""));
  const std::vector<Tick> ticks = cell_ticks(overlaps.rows, 8);
  draw_x_axis(canvas, plot, ticks, "client");
  draw_y_axis(canvas, plot, ticks, Upwards::kNo);
  draw_y_label(canvas, plot, "client");
  draw_colour_scale(canvas, {.left = plot.right() + 24, .top = plot.top, .width = 22, .height = plot.height},
                    least, largest);
}

// How often each value occurs, in bars that are one or more values wide.
struct Bars {
  size_t low, width, count;

  std::vector<double> shares(std::span<const size_t> values) const {
    std::vector<double> shares(count, 0.0);
    for (const size_t value : values) shares[(value - low) / width] += 1;
    for (double& share : shares) share /= static_cast<double>(values.size());
    return shares;
  }
};

struct Histogram {
  std::string heading, x_label;
  std::span<const size_t> values, beside;  // beside, if not empty, is drawn as a line
  std::string name_beside;
};

void draw_histogram(Canvas& canvas, const Box& plot, const Histogram& histogram) {
  auto [low, high] = std::ranges::minmax(histogram.values);
  if (!histogram.beside.empty()) {
    const auto [low_beside, high_beside] = std::ranges::minmax(histogram.beside);
    low = std::min(low, low_beside);
    high = std::max(high, high_beside);
  }
  const size_t width = (high - low) / kMostBars + 1;
  const Bars bars{.low = low, .width = width, .count = (high - low) / width + 1};
  const std::vector<double> shares = bars.shares(histogram.values);
  const std::vector<double> beside =
      histogram.beside.empty() ? std::vector<double>() : bars.shares(histogram.beside);
  double most = std::ranges::max(shares);
  if (!beside.empty()) most = std::max(most, std::ranges::max(beside));
  const Axis axis = make_axis({.high = 1.08 * most, .unit = Unit::kPercent, .most_ticks = 6});
  const auto height = [&](double share) {
    return static_cast<size_t>(std::lround(axis.place(share) * static_cast<double>(plot.height)));
  };
  const auto left = [&](size_t bar) { return plot.left + bar * plot.width / bars.count; };
  for (size_t bar = 0; bar < bars.count; ++bar) {
    const size_t gap = left(bar + 1) - left(bar) >= 5 ? 1 : 0;
    canvas.fill({left(bar), plot.bottom() - height(shares[bar]), left(bar + 1) - left(bar) - gap,
                 height(shares[bar])},
                kKept);
  }
  size_t before = 0;
  for (size_t bar = 0; bar < beside.size(); ++bar) {
    const size_t now = height(beside[bar]);
    const size_t from = std::min(before, now);
    canvas.fill({left(bar), plot.bottom() - std::max(before, now), 2, std::max(before, now) - from}, kBeside);
    canvas.fill({left(bar), plot.bottom() - now, left(bar + 1) - left(bar), 2}, kBeside);
    before = now;
  }
  if (!beside.empty()) canvas.fill({plot.right() - 2, plot.bottom() - before, 2, before}, kBeside);
  canvas.outline(plot, kLine);

  draw_heading(canvas, plot, histogram.heading);
  canvas.text(plot.right(), plot.top - kLetter - 12, histogram.name_beside,
              {.colour = kBeside, .align = Align::kRight});
  draw_x_axis(canvas, plot, cell_ticks(bars.count * bars.width, 5, low), histogram.x_label);
  draw_y_axis(canvas, plot, value_ticks(axis), Upwards::kYes);
}

std::string range_text(size_t least, size_t largest) {
  return least == largest ? fmt::format("{}", least) : fmt::format("{} to {}", least, largest);
}

std::string note(const DrawnBook& drawn) {
  const BookQuality& quality = drawn.quality;
  std::string text = fmt::format("{}: words keep {} units, units are kept by {} clients", drawn.name,
                                 range_text(quality.least_weight, quality.largest_weight),
                                 range_text(quality.least_coverage, quality.largest_coverage));
  if (quality.largest_overlap) {
    text += fmt::format(", overlap {:.1f} on average and {} at most", *quality.mean_overlap,
                        *quality.largest_overlap);
  }
  return text;
}

}  // namespace

ColourImage book_picture(const std::string& title, const DrawnBook& drawn, const DrawnBook* beside) {
  const CodeBook& book = drawn.book;
  constexpr size_t kTitle = 3;  // pixels per dot
  const size_t notes_top = kMargin + kTitle * kFontCapital + 18;
  const size_t note_height = kLetter + 10;
  const Box words{.left = kLeft,
                  .top = notes_top + 2 * note_height + kHeading,
                  .width = pixels_for(book.length(), kWide, kWide),
                  .height = pixels_for(book.rows(), kTall, kTallestRow)};
  const Box units{
      .left = kLeft, .top = words.bottom() + kHeading, .width = words.width, .height = kCoverageHeight};
  const size_t bottom_top = units.bottom() + kBelow + kHeading;
  const size_t square =
      pixels_for(std::max<size_t>(2, std::min(book.rows(), kMostPairRows)), kSquare, kSquare);
  const Box pairs{.left = kLeft, .top = bottom_top, .width = square, .height = square};
  const Box overlap_shares{.left = 800, .top = bottom_top, .width = 330, .height = square};
  const Box coverage_shares{.left = 1240, .top = bottom_top, .width = 330, .height = square};

  Canvas canvas(kLeft + kWide + kMargin, bottom_top + square + kBelow + kMargin / 2);
  canvas.text(kMargin, kMargin, title, {.scale = kTitle});
  canvas.text(kMargin, notes_top, note(drawn), {.colour = kKept});
  if (beside != nullptr) canvas.text(kMargin, notes_top + note_height, note(*beside), {.colour = kBeside});

  const std::string name_beside = beside != nullptr ? beside->name : "";

  draw_words(canvas, words, book);
  const std::vector<size_t> coverage = coverage_of(book);
  draw_coverage(canvas, units, drawn, coverage);
  const std::vector<size_t> coverage_beside =
      beside != nullptr ? coverage_of(beside->book) : std::vector<size_t>();
  draw_histogram(canvas, coverage_shares,
                 {.heading = "Units by coverage",
                  .x_label = "clients that keep the unit",
                  .values = coverage,
                  .beside = coverage_beside,
                  .name_beside = name_beside});
  if (book.rows() < 2) {
    canvas.text(kLeft, bottom_top, "A single client has no pairs to compare.");
    return canvas.image();
  }
  const Overlaps overlaps(book, drawn.quality.pair_rows);
  draw_overlaps(canvas, pairs, overlaps, book.rows());
  const std::vector<size_t> overlaps_beside =
      beside != nullptr ? Overlaps(beside->book, beside->quality.pair_rows).of_pairs()
                        : std::vector<size_t>();
  draw_histogram(canvas, overlap_shares,
                 {.heading = "Pairs by overlap",
                  .x_label = "units that the pair shares",
                  .values = overlaps.of_pairs(),
                  .beside = overlaps_beside,
                  .name_beside = name_beside});
  return canvas.image();
}

}  // namespace subfleet
