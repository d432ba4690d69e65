#include "subfleet/charts/search_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "subfleet/base/text.h"

namespace subfleet {

namespace {

// What the probes of each length came to, and the value that they point to.
Chart losses_over_values(const RateSearch& search, std::vector<Candidate> probes, const std::string& parameter) {
  std::ranges::sort(probes, {}, &Candidate::value);
  Chart chart{.title = fmt::format("Training loss at the end of probes{}",
                                   search.outcome() == RateSearch::Outcome::kFound
                                       ? fmt::format(", which point to {}", search.chosen())
                                       : ""),
              .x_label = parameter,
              .y_label = "training loss",
              .y_unit = Unit::kPlain,
              .log_x = true,
              .marked = true,
              .series = {}};
  for (const Candidate& probe : probes) {
    const std::string name = fmt::format("{} rounds", probe.length);
    auto line = std::ranges::find(chart.series, name, &Series::name);
    if (line == chart.series.end()) line = chart.series.insert(line, {.name = name, .points = {}});
    if (probe.fate != Fate::kRunning) line->points.push_back({probe.value, probe.loss});
  }
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
