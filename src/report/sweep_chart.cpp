#include "report/sweep_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "subfleet/base/text.h"
#include "subfleet/report/curves.h"

namespace subfleet {
namespace {

// Of the rounds that every seed has tested and that are not below `from`.
Series line_of(const RunResult& run, double from, ChartOver over) {
  std::map<uint32_t, std::vector<SmoothedTest>> by_round;
  size_t seeds = 0;
  for (const SeedResult& seed : run.seeds) {
    if (seed.diverged) continue;
    ++seeds;
    for (const SmoothedTest& test : seed.tests) by_round[test.round].push_back(test);
  }
  Series line{.name = run.name, .points = {}};
  for (const auto& [round, tests] : by_round) {
    if (tests.size() < seeds) continue;
    Point mean;
    for (const SmoothedTest& test : tests) {
      const double along = over == ChartOver::kBytes ? static_cast<double>(test.bytes) : round;
      mean.x += along / static_cast<double>(seeds);
      mean.y += test.smoothed / static_cast<double>(seeds);
    }
    if (mean.y < from) continue;
    line.points.push_back(mean);
    const auto [low, high] = std::ranges::minmax(tests, {}, &SmoothedTest::smoothed);
    line.band.push_back({mean.x, std::max(from, low.smoothed), high.smoothed});
  }
  return line;
}

double best_accuracy(const SweepResults& results) {
  double best = 0;
  for (const RunResult& run : results.runs) best = std::max(best, run.accuracy ? run.accuracy->mean : 0);
  return best;
}

}  // namespace

Chart sweep_chart(const SweepResults& results, ChartOver over) {
  const bool bytes = over == ChartOver::kBytes;
  Chart chart{.title = results.title,
              .x_label = bytes ? "bytes exchanged, down and up" : "rounds",
              .y_label = "test accuracy",
              .x_unit = bytes ? Unit::kBytes : Unit::kCount,
              .log_x = bytes,
              .y_from = bytes ? lowest_shown(best_accuracy(results)) : 0,
              .series = {}};
  for (const RunResult& run : results.runs) {
    if (run.drawn && !run.seeds.empty()) chart.series.push_back(line_of(run, *chart.y_from, over));
  }
  if (results.baseline && results.runs[*results.baseline].accuracy) {
    const double target = results.target * results.runs[*results.baseline].accuracy->mean;
    chart.level = Level{target, fmt::format("{} × {}: {:.2f} %", results.target,
                                            results.runs[*results.baseline].name, 100 * target)};
  }
  return chart;
}

std::string sweep_svg(const SweepResults& results) {
  return svg_file(sweep_chart(results), {.width = 900, .plot_height = 400, .follows_reader = false});
}

}  // namespace subfleet
