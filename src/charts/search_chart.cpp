#include "subfleet/charts/search_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "subfleet/base/text.h"

namespace subfleet {

Chart rounds_over_values(const RateSearch& search, const std::string& parameter) {
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
