#include "search/memory_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "subfleet/search/candidate_runs.h"

namespace subfleet {
namespace {

// By search and candidate.
using Runs = std::map<std::pair<size_t, size_t>, std::unique_ptr<Run>>;

CandidatesStand stand_of(std::span<const MemorySearch> searches, size_t trained) {
  CandidatesStand stand{.trained = static_cast<uint32_t>(trained)};
  for (const MemorySearch& one : searches) {
    for (const Candidate& candidate : one.search.candidates()) {
      stand.accuracy = std::max(stand.accuracy, candidate.accuracy);
      stand.bytes += candidate.bytes();
    }
  }
  return stand;
}

// The runs of the candidates that want a round, search by search; those of the others are gone.
std::vector<Run*> running(std::span<const MemorySearch> searches, Runs& runs, Fleet& fleet) {
  std::erase_if(runs, [&](const auto& entry) {
    const auto [number, index] = entry.first;
    return searches[number].search.candidates()[index].fate != Fate::kRunning;
  });
  std::vector<Run*> all;
  for (size_t number = 0; number < searches.size(); ++number) {
    const MemorySearch& one = searches[number];
    for (const size_t index : one.search.running()) {
      std::unique_ptr<Run>& run = runs[{number, index}];
      if (!run) run = std::make_unique<Run>(candidate_config(one.config, one.search, index), fleet);
      all.push_back(run.get());
    }
  }
  return all;
}

}  // namespace

MemorySearch search_of_one(const Config& config, double value, uint32_t classes) {
  SearchPlan plan = make_search_plan(config, classes);
  plan.start = value;
  plan.delta = 0;
  plan.steps = plan.outward = 0;
  return {config, RateSearch(plan)};
}

std::optional<uint32_t> rounds_to_target(const RateSearch& search_of_one) {
  const Candidate& candidate = search_of_one.candidates().front();
  return candidate.fate == Fate::kReached ? std::optional(candidate.round_count()) : std::nullopt;
}

bool search_in_memory(std::span<MemorySearch> searches, Fleet& fleet, const AfterRound& after_round) {
  Runs runs;
  while (true) {
    const std::vector<Run*> together = running(searches, runs, fleet);
    if (together.empty()) return true;
    std::vector<CandidateRound> rounds;
    for (const SteppedRound& round : step_together(together, fleet))
      rounds.push_back(candidate_round(round.record));
    std::span<const CandidateRound> rest = rounds;
    for (MemorySearch& one : searches) {
      const size_t count = one.search.running().size();
      if (count == 0) continue;
      one.search.record(rest.first(count));
      rest = rest.subspan(count);
    }
    if (!after_round(stand_of(searches, rounds.size()))) return false;
  }
}

}  // namespace subfleet
