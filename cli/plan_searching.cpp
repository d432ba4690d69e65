#include "plan_searching.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/stopwatch.h"
#include "report/terminal.h"
#include "search/memory_search.h"

namespace subfleet::cli {
namespace {

// One for a search, one for each rate otherwise.
size_t search_count(const Trial& trial) {
  return trial.kind == ExperimentKind::kSearches ? 1 : trial.rates.size();
}

void add_searches(const Trial& trial, uint32_t classes, std::vector<MemorySearch>& all) {
  Config config = trial.config;
  resolve_tune(config);
  if (trial.kind == ExperimentKind::kSearches) {
    all.push_back({config, RateSearch(make_search_plan(config, classes))});
    return;
  }
  for (const double rate : trial.rates)
    all.push_back(search_of_one(config, std::stod(fmt::format("{:.4g}", std::pow(10, rate))), classes));
}

// Saves what came of a trial, and says it in a few words.
std::string keep(const Trial& trial, std::span<const MemorySearch> searches, const std::string& trainer) {
  if (trial.kind == ExperimentKind::kSearches) {
    const RateSearch& search = searches.front().search;
    save(trial, search, trainer);
    if (search.outcome() != RateSearch::Outcome::kFound) return "nothing reached the target";
    const Candidate& best = search.candidates()[*search.best()];
    return fmt::format("10^{:.3g} in {} rounds", std::log10(best.value), best.round_count());
  }
  std::vector<std::optional<uint32_t>> rounds;
  for (const MemorySearch& one : searches) rounds.push_back(rounds_to_target(one.search));
  save(trial, rounds, trainer);
  return fmt::format("{} of {} rates reach the target",
                     std::ranges::count_if(rounds, [](const auto& one) { return one.has_value(); }),
                     rounds.size());
}

}  // namespace

std::optional<SearchesDone> search_trials(std::span<const Trial> group, const std::string& title,
                                          size_t number, uint32_t expected, SharedFleets& fleets,
                                          PlanClock& clock, Progress::Mode mode,
                                          const InterruptWatch& watch) {
  Fleet& fleet = fleets.fleet(group.front().config);
  std::vector<MemorySearch> searches;
  for (const Trial& trial : group) add_searches(trial, fleet.classes(), searches);
  Progress progress(stdout, mode == Progress::Mode::kBar ? mode : Progress::Mode::kQuiet,
                    {.rounds = searches.front().config.tune.max_rounds,
                     .unicode = look_at_terminal(stdout).unicode,
                     .title = title,
                     .plan = plan_line(clock),
                     .width = {}});
  Stopwatch since;
  uint32_t rounds = 0, trained = 0;
  const bool done = search_in_memory(searches, fleet, [&](const CandidatesStand& stand) {
    trained += stand.trained;
    if (trained > expected) {
      clock.expect(number, trained - expected);
      expected = trained;
    }
    clock.rounds_done(number, stand.trained, since.seconds());
    since = Stopwatch();
    progress.update({.round = ++rounds,
                     .train_accuracy_median = stand.accuracy,
                     .bytes_total = stand.bytes,
                     .plan = plan_line(clock)});
    return !watch.interrupted();
  });
  if (!done) return std::nullopt;
  clock.give_up(number, expected - trained);
  const std::string trainer =
      trainer_text(provenance_now(group.front().config, fleet, fleets.workers()).sessions.back());
  std::vector<std::string> found;
  std::span<const MemorySearch> rest = searches;
  for (const Trial& trial : group) {
    found.push_back(keep(trial, rest.first(search_count(trial)), trainer));
    rest = rest.subspan(search_count(trial));
  }
  return SearchesDone{trained, fmt::format("{}", fmt::join(found, ", "))};
}

}  // namespace subfleet::cli
