#include "subfleet/work/trial_searches.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "search/memory_search.h"
#include "subfleet/base/stopwatch.h"
#include "subfleet/base/text.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

// For a search trial one search; otherwise one per rate.
size_t search_count(const Trial& trial) {
  return trial.kind == ExperimentKind::kSearches ? 1 : trial.rates.size();
}

void add_searches(const Trial& trial, uint32_t classes, std::vector<MemorySearch>& all) {
  Config config = trial.config;
  resolve_tune(config);
  if (config.tune.method != TuneOptions().method)
    throw bad_request("tune.method", "experiments search as the paper does; 'subfleet tune' for the horizon");
  if (trial.kind == ExperimentKind::kSearches) {
    all.push_back({config, RateSearch(make_search_plan(config, classes))});
    return;
  }
  for (const double rate : trial.rates)
    all.push_back(search_of_one(config, number_in(fmt::format("{:.4g}", std::pow(10, rate))), classes));
}

// Saves the result of a trial, and returns it in a few words.
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

// Searches to the end. Returns how many rounds the candidates took, or nothing if it was stopped.
std::optional<uint32_t> search_all(std::span<MemorySearch> searches, Fleet& fleet, const SearchGroup& group,
                                   const PlanContext& context) {
  context.observer.on_start({.kind = GroupStart::Kind::kSearches,
                             .title = group.title,
                             .rounds = searches.front().config.tune.max_rounds,
                             .plan = plan_line(context.clock)});
  Stopwatch since;
  uint32_t rounds = 0, trained = 0, expected = group.expected;
  const bool done = search_in_memory(searches, fleet, [&](const CandidatesStand& stand) {
    trained += stand.trained;
    if (trained > expected) {
      context.clock.expect(group.number, trained - expected);
      expected = trained;
    }
    context.clock.rounds_done(group.number, stand.trained, since.seconds());
    since = Stopwatch();
    context.observer.on_round({.round = ++rounds,
                               .train_accuracy_median = stand.accuracy,
                               .bytes_total = stand.bytes,
                               .plan = plan_line(context.clock)});
    return !context.stop();
  });
  context.observer.on_end();
  if (!done) return std::nullopt;
  context.clock.give_up(group.number, expected - trained);
  return trained;
}

}  // namespace

std::optional<SearchesDone> search_trials(std::span<const Trial> trials, const SearchGroup& group,
                                          const PlanContext& context) {
  const Config& config = trials.front().config;
  Fleet& fleet = context.fleets.fleet(config);
  std::vector<MemorySearch> searches;
  for (const Trial& trial : trials) add_searches(trial, fleet.classes(), searches);
  const auto rounds = search_all(searches, fleet, group, context);
  if (!rounds) return std::nullopt;
  const std::string trainer =
      trainer_text(provenance_now(config, fleet, context.fleets.workers()).sessions.back());
  std::vector<std::string> found;
  std::span<const MemorySearch> rest = searches;
  for (const Trial& trial : trials) {
    found.push_back(keep(trial, rest.first(search_count(trial)), trainer));
    rest = rest.subspan(search_count(trial));
  }
  return SearchesDone{*rounds, fmt::format("{}", fmt::join(found, ", "))};
}

}  // namespace subfleet
