#include "subfleet/report/curves.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace subfleet {
namespace {

// What a round measured; empty if it did not.
using Figure = std::optional<double> (*)(const RoundRecord&);

std::optional<double> test_accuracy(const RoundRecord& record) { return record.test_accuracy; }
std::optional<double> test_loss(const RoundRecord& record) { return record.test_loss; }
std::optional<double> training_accuracy(const RoundRecord& record) { return record.train_accuracy_median; }
std::optional<double> training_loss(const RoundRecord& record) { return record.train_loss; }

template <size_t kQuartile>
std::optional<double> client_accuracy(const RoundRecord& record) {
  return record.train_accuracies ? std::optional((*record.train_accuracies)[kQuartile]) : std::nullopt;
}

std::optional<double> server_rate(const RoundRecord& record) { return record.server_rate; }
std::optional<double> client_rate(const RoundRecord& record) { return record.client_rate; }

enum class Over { kRounds, kBytes };

Series line_of(std::span<const ReportedRun> runs, const RunGroup& group, Over over, Figure figure) {
  std::map<uint32_t, std::vector<Point>> by_round;
  for (const ReportedRun* run : counted_runs(runs, group)) {
    auto bytes = static_cast<double>(run->search_bytes);
    for (const RoundRecord& record : run->rounds) {
      bytes += static_cast<double>(record.bytes_down) + static_cast<double>(record.bytes_up);
      const auto value = figure(record);
      if (value) by_round[record.round].push_back({over == Over::kBytes ? bytes : record.round, *value});
    }
  }
  Series line{.name = group.name, .points = {}};
  for (const auto& [round, points] : by_round) {
    Point mean;
    for (const Point& point : points) {
      mean.x += point.x / static_cast<double>(points.size());
      mean.y += point.y / static_cast<double>(points.size());
    }
    line.points.push_back(points.size() == 1 ? points.front() : mean);
    if (points.size() == 1 || !std::isfinite(mean.y)) continue;
    const auto [low, high] = std::ranges::minmax(points, {}, &Point::y);
    line.band.push_back({mean.x, low.y, high.y});
  }
  return line;
}

std::vector<Series> lines_of(std::span<const ReportedRun> runs, Over over, Figure figure) {
  std::vector<Series> lines;
  for (const RunGroup& group : group_by_seed(runs)) lines.push_back(line_of(runs, group, over, figure));
  return lines;
}

// Between two lines of the same rounds.
std::vector<Spread> band_between(const Series& low, const Series& high) {
  std::vector<Spread> band;
  for (size_t i = 0; i < low.points.size(); ++i)
    band.push_back({low.points[i].x, low.points[i].y, high.points[i].y});
  return band;
}

// If several runs end close together, y begins at lowest_shown(), so that their differences show.
void show_ends(Chart& chart) {
  constexpr double kNearlyAlike = 0.9;
  std::vector<double> ends;
  for (const Series& line : chart.series) {
    if (!line.points.empty()) ends.push_back(line.points.back().y);
  }
  if (ends.size() < 2) return;
  const auto [worst, best] = std::ranges::minmax(ends);
  if (!(worst >= kNearlyAlike * best)) return;
  const double from = lowest_shown(best);
  chart.y_from = from;
  for (Series& line : chart.series) {
    std::erase_if(line.band, [&](const Spread& spread) { return spread.high < from; });
    for (Spread& spread : line.band) spread.low = std::max(spread.low, from);
  }
}

}  // namespace

double lowest_shown(double best_accuracy) { return std::floor(best_accuracy * 0.75 * 10) / 10; }

Chart accuracy_over_rounds(std::span<const ReportedRun> runs) {
  return {.title = "Test accuracy over rounds",
          .x_label = "round",
          .y_label = "test accuracy",
          .x_unit = Unit::kCount,
          .series = lines_of(runs, Over::kRounds, test_accuracy)};
}

Chart accuracy_over_bytes(std::span<const ReportedRun> runs) {
  Chart chart{.title = "Test accuracy over bytes exchanged",
              .x_label = "bytes exchanged, down and up",
              .y_label = "test accuracy",
              .x_unit = Unit::kBytes,
              .series = lines_of(runs, Over::kBytes, test_accuracy)};
  chart.log_x = std::ranges::all_of(
      chart.series, [](const Series& line) { return line.points.empty() || line.points.front().x > 0; });
  show_ends(chart);
  return chart;
}

Chart test_loss_over_rounds(std::span<const ReportedRun> runs) {
  return {.title = "Test loss over rounds",
          .x_label = "round",
          .y_label = "test loss",
          .x_unit = Unit::kCount,
          .y_unit = Unit::kPlain,
          .series = lines_of(runs, Over::kRounds, test_loss)};
}

Chart server_rate_over_rounds(std::span<const ReportedRun> runs) {
  return {.title = "The server's learning rate",
          .x_label = "round",
          .y_label = "learning rate",
          .x_unit = Unit::kCount,
          .y_unit = Unit::kPlain,
          .series = lines_of(runs, Over::kRounds, server_rate)};
}

Chart client_rate_over_rounds(std::span<const ReportedRun> runs) {
  return {.title = "The clients' learning rate",
          .x_label = "round",
          .y_label = "learning rate",
          .x_unit = Unit::kCount,
          .y_unit = Unit::kPlain,
          .series = lines_of(runs, Over::kRounds, client_rate)};
}

Chart training_accuracy_over_rounds(std::span<const ReportedRun> runs) {
  return {.title = "Median training accuracy of the round's clients",
          .x_label = "round",
          .y_label = "training accuracy",
          .x_unit = Unit::kCount,
          .series = lines_of(runs, Over::kRounds, training_accuracy)};
}

Chart training_loss_over_rounds(std::span<const ReportedRun> runs) {
  return {.title = "Mean training loss of the round's clients",
          .x_label = "round",
          .y_label = "training loss",
          .x_unit = Unit::kCount,
          .y_unit = Unit::kPlain,
          .series = lines_of(runs, Over::kRounds, training_loss)};
}

Chart client_accuracies_over_rounds(std::span<const ReportedRun> runs) {
  const std::vector<RunGroup> groups = group_by_seed(runs);
  Chart chart{
      .title = "Client by client: median, middle half" + std::string(groups.size() == 1 ? ", extremes" : ""),
      .x_label = "round",
      .y_label = "training accuracy",
      .x_unit = Unit::kCount,
      .series = {}};
  for (const RunGroup& group : groups) {
    const auto line = [&](Figure figure) { return line_of(runs, group, Over::kRounds, figure); };
    Series& median = chart.series.emplace_back(line(client_accuracy<2>));
    median.band = band_between(line(client_accuracy<1>), line(client_accuracy<3>));
    if (groups.size() == 1)
      median.outer_band = band_between(line(client_accuracy<0>), line(client_accuracy<4>));
  }
  return chart;
}

}  // namespace subfleet
