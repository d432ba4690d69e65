#include <algorithm>
#include <limits>
#include <utility>

#include "report/page.h"

namespace subfleet {
namespace {

// One line per run; `add` turns a record and the bytes exchanged so far into a point of the line, or not.
template <typename Add>
std::vector<Series> lines_of(std::span<const RunSummary> runs, Add add) {
  std::vector<Series> lines;
  for (const auto& run : runs) {
    Series line{.name = run.name, .points = {}};
    auto bytes = static_cast<double>(run.search_bytes);
    for (const auto& record : run.rounds) {
      bytes += static_cast<double>(record.bytes_down) + static_cast<double>(record.bytes_up);
      add(line.points, record, bytes);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace

Chart accuracy_over_rounds(std::span<const RunSummary> runs) {
  return {.title = "Test accuracy over rounds",
          .x_label = "round",
          .y_label = "test accuracy",
          .x_unit = Unit::kCount,
          .series = lines_of(runs, [](auto& points, const RoundRecord& record, double) {
            if (record.test_accuracy)
              points.push_back({static_cast<double>(record.round), *record.test_accuracy});
          })};
}

Chart accuracy_over_bytes(std::span<const RunSummary> runs) {
  constexpr double kMuchMore = 12;
  Chart chart{.title = "Test accuracy over bytes exchanged",
              .x_label = "bytes exchanged, down and up",
              .y_label = "test accuracy",
              .x_unit = Unit::kBytes,
              .series = lines_of(runs, [](auto& points, const RoundRecord& record, double bytes) {
                if (record.test_accuracy) points.push_back({bytes, *record.test_accuracy});
              })};
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const auto& line : chart.series) {
    if (line.points.empty()) continue;
    least = std::min(least, line.points.back().x);
    most = std::max(most, line.points.back().x);
  }
  chart.log_x = least > 0 && most > kMuchMore * least;
  return chart;
}

Chart training_accuracy_over_rounds(std::span<const RunSummary> runs) {
  return {.title = "Median training accuracy of the round's clients",
          .x_label = "round",
          .y_label = "training accuracy",
          .x_unit = Unit::kCount,
          .series = lines_of(runs, [](auto& points, const RoundRecord& record, double) {
            points.push_back({static_cast<double>(record.round), record.train_accuracy_median});
          })};
}

Chart training_loss_over_rounds(std::span<const RunSummary> runs) {
  return {.title = "Mean training loss of the round's clients",
          .x_label = "round",
          .y_label = "training loss",
          .x_unit = Unit::kCount,
          .y_unit = Unit::kPlain,
          .series = lines_of(runs, [](auto& points, const RoundRecord& record, double) {
            points.push_back({static_cast<double>(record.round), record.train_loss});
          })};
}

}  // namespace subfleet
