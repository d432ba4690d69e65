#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "subfleet/rate_search.h"
#include "subfleet/run.h"

// Searches whose candidates live in memory alone, for experiments that make hundreds of them: nothing is
// saved or tested on the way. Each has the rounds, and finds what, `subfleet tune` does with the same
// settings.
namespace subfleet {

struct MemorySearch {
  Config config;  // resolved
  RateSearch search;
};

// One that tries a single value of the searched setting, with the draws of clients and masks that all such
// have: it ends when that value has reached the target, is lost or has taken max_rounds.
MemorySearch search_of_one(const Config& config, double value, uint32_t classes);
// How many rounds its value took to the target; none: not reached.
std::optional<uint32_t> rounds_to_target(const RateSearch& search_of_one);

// How the candidates of all searches stand after a round.
struct CandidatesStand {
  uint32_t trained = 0;  // how many the round had
  double accuracy = 0;   // the highest
  uint64_t bytes = 0;    // exchanged by all of them so far
};

// Called after every round of all candidates that run; false stops.
using AfterRound = std::function<bool(const CandidatesStand&)>;

// Runs searches that have just begun to their ends, the candidates of all of them side by side, none of which
// knows of the other searches; false if it was stopped.
bool search_in_memory(std::span<MemorySearch> searches, Fleet& fleet, const AfterRound& after_round);

}  // namespace subfleet
