#include "subfleet/charts/chart.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "markup_check.h"
#include "subfleet/base/text.h"
#include "subfleet/charts/text_chart.h"

namespace subfleet {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Chart chart_of(std::vector<Series> series, bool log_x = false) {
  return {.title = "A & B",
          .x_label = "round",
          .y_label = "<accuracy>",
          .log_x = log_x,
          .series = std::move(series)};
}

// Charts that have broken other charts.
std::vector<Chart> odd_charts() {
  std::vector<Chart> charts;
  for (const bool log_x : {false, true}) {
    charts.push_back(chart_of({}, log_x));
    charts.push_back(chart_of({{"empty", {}}}, log_x));
    charts.push_back(chart_of({{"one", {{1, 0.5}}}}, log_x));
    charts.push_back(chart_of({{"same", {{3, 0}, {3, 0}}}}, log_x));
    charts.push_back(chart_of({{"nothing finite", {{kNan, 1}, {1, kInfinity}, {-kInfinity, kNan}}}}, log_x));
    charts.push_back(
        chart_of({{"gaps", {{0, 0.1}, {1, 0.2}, {2, kNan}, {3, 0.3}, {kInfinity, 0.3}}}}, log_x));
    charts.push_back(chart_of({{"huge", {{1, -1e308}, {2, 1e308}, {3, 1e299}, {4, -1e299}}}}, log_x));
    charts.push_back(chart_of(
        {{"<script>\"&'\x1b[2J\xff", {{1, 0.2}, {2, 0.3}}}, {std::string(200, 'x'), {{5, 1}}}}, log_x));
    charts.push_back(chart_of(std::vector<Series>(25, {"many", {{1, 0.2}, {900, 0.3}}}), log_x));
  }
  return charts;
}

TEST(Chart, SvgIsWellFormedForOddCharts) {
  for (const auto& chart : odd_charts()) {
    for (const auto& svg : {svg_file(chart), svg_element(chart)}) {
      EXPECT_EQ(markup_fault(svg), "") << svg;
      EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
      EXPECT_EQ(svg.find("inf"), std::string::npos) << svg;
      EXPECT_EQ(svg.find("<script"), std::string::npos);
      EXPECT_EQ(printable(svg), svg);
    }
  }
}

TEST(Chart, BandsLevelsAndAHigherBeginningStayInside) {
  Chart chart =
      chart_of({{"a", {{1, 0.1}, {10, 0.5}, {100, 0.6}}, {{10, 0.45, 0.7}, {100, 0.5, 0.65}}}}, true);
  chart.y_from = 0.4;
  chart.level = Level{0.8, "a & b"};
  const Axes axes = chart_axes(chart, 8, 6);
  EXPECT_EQ(axes.y.low, 0.4);
  EXPECT_GE(axes.y.high, 0.8) << "the level is to be seen";
  EXPECT_EQ(axes.x.low, 10) << "what is below is left out";
  const std::string svg = svg_file(chart, {.width = 900, .plot_height = 400, .follows_reader = false});
  EXPECT_EQ(markup_fault(svg), "");
  EXPECT_NE(svg.find("a &amp; b"), std::string::npos);
  EXPECT_EQ(svg.find("@media"), std::string::npos);
  EXPECT_NE(svg_file(chart).find("@media"), std::string::npos);
}

TEST(Chart, MarkedPointsAreAllSeen) {
  Chart chart = chart_of({{"a", {{1, 0.1}, {2, kNan}, {3, 0.3}, {4, kNan}, {5, 0.2}}}});
  const auto seen = [](const std::string& text, std::string_view what) {
    size_t count = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
    return count;
  };
  const TextChartStyle plain{.unicode = true, .colour = false, .width = 60, .height = 12};
  EXPECT_EQ(seen(svg_file(chart), "class=\"end"), 1U);
  chart.marked = true;
  EXPECT_EQ(seen(svg_file(chart), "class=\"end"), 3U);
  EXPECT_EQ(seen(text_chart(chart, plain), "●"), 4U) << "and one in the legend";
}

TEST(Chart, NamesAreEscaped) {
  const std::string svg = svg_file(chart_of({{"<gold> & \"co\"", {{1, 0.2}}}}));
  EXPECT_NE(svg.find("&lt;gold&gt; &amp; &quot;co&quot;"), std::string::npos);
}

TEST(Chart, ANonFiniteValueLeavesAGapInTheLine) {
  const std::string svg =
      svg_element(chart_of({{"run", {{1, 0.1}, {2, 0.2}, {3, kNan}, {4, 0.3}, {5, 0.4}}}}));
  const size_t start = svg.rfind("<path class=\"line s0\"");  // the first is the legend's
  const std::string path = svg.substr(start, svg.find("/>", start) - start);
  EXPECT_EQ(std::count(path.begin(), path.end(), 'M'), 2) << path;
  EXPECT_EQ(std::count(path.begin(), path.end(), 'L'), 2) << path;
}

TEST(Chart, OnlyAFileHasItsOwnStyleAndBackground) {
  const Chart chart = chart_of({{"run", {{1, 0.1}}}});
  EXPECT_NE(svg_file(chart).find("<style>"), std::string::npos);
  EXPECT_NE(svg_file(chart).find("class=\"paper\""), std::string::npos);
  EXPECT_EQ(svg_element(chart).find("<style>"), std::string::npos);
}

TEST(Chart, AnEmptyChartSaysSo) {
  EXPECT_NE(svg_file(chart_of({{"run", {}}})).find("nothing measured yet"), std::string::npos);
  EXPECT_EQ(svg_file(chart_of({{"run", {{1, 0.1}}}})).find("nothing measured yet"), std::string::npos);
}

TEST(Chart, AxesHoldEveryPointAndAccuracyStaysBelowOne) {
  const auto axes = chart_axes(chart_of({{"a", {{10, 0.2}, {100, 1.0}}}, {"b", {{400, 0.1}}}}), 8, 6);
  EXPECT_EQ(axes.x.low, 0);
  EXPECT_EQ(axes.x.high, 400);
  EXPECT_EQ(axes.y.low, 0);
  EXPECT_EQ(axes.y.high, 1);
}

TEST(TextChart, OddChartsFitTheWidth) {
  for (const auto& chart : odd_charts()) {
    for (const bool unicode : {false, true}) {
      const std::string text = text_chart(chart, {.unicode = unicode, .width = 70, .height = 18});
      EXPECT_EQ(printable(text), text);
      for (size_t start = 0; start < text.size();) {
        const size_t end = text.find('\n', start);
        EXPECT_LE(text_width(text.substr(start, end - start)), 70U) << text;
        start = end + 1;
      }
    }
  }
}

TEST(TextChart, PlainIsAsciiAndARisingLineRises) {
  const std::string text =
      text_chart(chart_of({{"up", {{0, 0}, {100, 0.8}}}}), {.unicode = false, .width = 40, .height = 14});
  for (const char letter : text) EXPECT_TRUE(letter == '\n' || (letter >= ' ' && letter <= '~'));
  size_t before = std::string::npos;
  size_t rows = 0;
  for (size_t start = text.find('\n') + 1, end = 0; (end = text.find('\n', start)) != std::string::npos;
       start = end + 1) {
    const size_t column = text.substr(start, end - start).find('*');
    if (column == std::string::npos) continue;
    if (++rows > 10) break;  // the legend
    EXPECT_LT(column, before);
    before = column;
  }
  EXPECT_GE(rows, 9U) << text;
}

TEST(TextChart, ColourIsOnlyThereWhenAskedForAndIsSwitchedOff) {
  const Chart chart = chart_of({{"a", {{0, 0}, {9, 0.8}}}, {"b", {{0, 0.4}, {9, 0.2}}}});
  EXPECT_EQ(text_chart(chart, {}).find('\x1b'), std::string::npos);
  const std::string coloured = text_chart(chart, {.colour = true});
  for (size_t start = 0; start < coloured.size();) {
    const size_t end = coloured.find('\n', start);
    const std::string line = coloured.substr(start, end - start);
    const size_t last = line.rfind("\x1b[");
    EXPECT_TRUE(last == std::string::npos || line.substr(last, 4) == "\x1b[0m") << line;
    start = end + 1;
  }
}

TEST(Chart, PointsAloneHaveErrorBarsAndNoLine) {
  Chart chart = chart_of({{"a", {{1, 0.5}}, {{1, 0.4, 0.6}}}, {"equal", {{0, 0}, {1, 1}}}});
  EXPECT_EQ(svg_file(chart).find("class=\"error s0\""), std::string::npos);
  chart.points_alone = true;
  const std::string svg = svg_file(chart);
  EXPECT_NE(svg.find("class=\"error s0\""), std::string::npos);
  EXPECT_NE(svg.find("class=\"level\" d=\"M"), std::string::npos) << "what has no band is a dashed line";
  EXPECT_EQ(markup_fault(svg), "");
}

size_t count_of(const std::string& text, std::string_view what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(Chart, NamesThatAreCombinationsShareColoursAndDashes) {
  const std::vector<Point> points{{1, 0.2}, {2, 0.3}};
  const auto lines = [&](const std::vector<std::string>& names, std::string_view look) {
    std::vector<Series> series;
    for (const std::string& name : names) series.push_back({name, points});
    return count_of(svg_file(chart_of(series)), look) / 2;  // each is in the legend, too
  };
  const std::vector<std::string> combined{"gold, FedAdam", "same, FedAdam", "gold, FAVG", "same, FAVG"};
  EXPECT_EQ(lines(combined, "<path class=\"line s0\" d"), 1);
  EXPECT_EQ(lines(combined, "<path class=\"line s0\" stroke-dasharray"), 1);
  EXPECT_EQ(lines(combined, "<path class=\"line s1\" stroke-dasharray"), 1);
  EXPECT_EQ(lines(combined, "<path class=\"line s2\""), 0);
  const std::vector<std::string> others{"gold, FedAdam", "same, FAVG", "random"};
  EXPECT_EQ(lines(others, "stroke-dasharray"), 0);
  EXPECT_EQ(lines(others, "<path class=\"line s2\" d"), 1);
}

}  // namespace
}  // namespace subfleet
