#include "subfleet/charts/search_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "subfleet/base/text.h"

namespace subfleet {
namespace {

// What halving saw: the losses of all candidates after the first rounds, and of those that went on.
Chart losses_over_values(const RateSearch& search, std::vector<Candidate> candidates,
                         const std::string& parameter) {
  std::ranges::sort(candidates, {}, &Candidate::value);
  Chart chart{.title = "Training loss of the candidates",
              .x_label = parameter,
              .y_label = "training loss",
              .y_unit = Unit::kPlain,
              .log_x = true,
              .marked = true,
              .series = {}};
  for (const uint32_t rounds : {search.plan().horizon / 16, search.plan().horizon / 8}) {
    Series line{.name = fmt::format("after {} rounds", rounds), .points = {}};
    for (const Candidate& candidate : candidates) {
      if (candidate.round_count() >= rounds)
        line.points.push_back({candidate.value, late_loss(std::span(candidate.rounds).first(rounds))});
    }
    for (const Point& point : line.points) {
      if (std::isfinite(point.y)) chart.y_from = std::min(chart.y_from.value_or(point.y), point.y);
    }
    chart.series.push_back(std::move(line));
  }
  if (chart.y_from) *chart.y_from = std::floor(*chart.y_from * 9) / 10;  // a tenth lower
  return chart;
}

}  // namespace

Chart search_chart(const RateSearch& search, const std::string& parameter) {
  if (search.plan().horizon > 0) return losses_over_values(search, search.candidates(), parameter);
  std::vector<Candidate> candidates = search.candidates();
  std::ranges::sort(candidates, {}, &Candidate::value);
  Series reached{.name = "reached the target", .points = {}}, stopped{.name = "stopped before", .points = {}};
  for (const Candidate& candidate : candidates) {
    if (candidate.rounds.empty()) continue;
    const Point point{candidate.value, static_cast<double>(candidate.rounds.size())};
    if (candidate.fate == Fate::kReached) {
      reached.points.push_back(point);
    } else {  // how many they would have taken is not known: no line from one to the next
      stopped.points.push_back(point);
      stopped.points.push_back({point.x, std::numeric_limits<double>::quiet_NaN()});
    }
  }
  return {.title = fmt::format("Rounds to a training accuracy of {}", human_percent(search.plan().target)),
          .x_label = parameter,
          .y_label = "rounds",
          .y_unit = Unit::kCount,
          .log_x = true,
          .marked = true,
          .series = {std::move(reached), std::move(stopped)}};
}

}  // namespace subfleet
