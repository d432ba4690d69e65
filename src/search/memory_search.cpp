#include "search/memory_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "search/candidate_runs.h"

namespace subfleet {
namespace {

// One more round of each, trained together.
std::vector<CandidateRound> next_rounds(std::span<Run* const> runs, Fleet& fleet) {
  std::vector<CandidateRound> rounds;
  for (const RoundRecord& record : step_together(runs, fleet)) rounds.push_back(candidate_round(record));
  return rounds;
}

void add(const RateSearch& search, CandidatesStand& stand) {
  for (const Candidate& candidate : search.candidates()) {
    stand.accuracy = std::max(stand.accuracy, candidate.accuracy);
    stand.bytes += candidate.bytes();
  }
}

}  // namespace

bool search_in_memory(RateSearch& search, const Config& config, Fleet& fleet, const AfterRound& after_round) {
  std::map<size_t, std::unique_ptr<Run>> runs;  // of the candidates that run
  while (!search.running().empty()) {
    const std::vector<size_t> running = search.running();
    std::erase_if(runs,
                  [&](const auto& entry) { return search.candidates()[entry.first].fate != Fate::kRunning; });
    std::vector<Run*> together;
    for (const size_t index : running) {
      std::unique_ptr<Run>& run = runs[index];
      if (!run) run = std::make_unique<Run>(candidate_config(config, search, index), fleet);
      together.push_back(run.get());
    }
    search.record(next_rounds(together, fleet));
    CandidatesStand stand;
    add(search, stand);
    if (!after_round(stand)) return false;
  }
  return true;
}

std::optional<std::vector<RoundsToTarget>> rounds_by_value(const Config& config,
                                                           std::span<const double> values, Fleet& fleet,
                                                           const AfterRound& after_round) {
  // A search that tries its start alone judges one value as every search does.
  struct Trial {
    RateSearch search;
    std::unique_ptr<Run> run;
  };
  std::vector<Trial> trials;
  for (const double value : values) {
    Config own = config;
    set(own, config.tune.parameter, fmt::format("{}", value));
    validate(own);
    SearchPlan plan = make_search_plan(config, fleet.classes());
    plan.start = value;
    plan.delta = 0;
    plan.steps = plan.outward = 0;
    trials.push_back({RateSearch(plan), std::make_unique<Run>(own, fleet)});
  }
  while (true) {
    std::vector<Run*> together;
    std::vector<RateSearch*> searches;
    for (Trial& trial : trials) {
      if (trial.search.running().empty()) {
        trial.run.reset();
      } else {
        together.push_back(trial.run.get());
        searches.push_back(&trial.search);
      }
    }
    if (together.empty()) break;
    const std::vector<CandidateRound> rounds = next_rounds(together, fleet);
    for (size_t i = 0; i < searches.size(); ++i) searches[i]->record({&rounds[i], 1});
    CandidatesStand stand;
    for (const Trial& trial : trials) add(trial.search, stand);
    if (!after_round(stand)) return std::nullopt;
  }
  std::vector<RoundsToTarget> found;
  for (size_t i = 0; i < trials.size(); ++i) {
    RoundsToTarget& one = found.emplace_back(RoundsToTarget{values[i], std::nullopt});
    const Candidate& candidate = trials[i].search.candidates().front();
    if (candidate.fate == Fate::kReached) one.rounds = candidate.round_count();
  }
  return found;
}

}  // namespace subfleet
