#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "subfleet/rate_search.h"
#include "subfleet/run.h"

// Searches whose candidates live in memory only, for experiments that make hundreds of them: nothing is saved
// or tested on the way. Each takes the same rounds and finds the same value as `subfleet tune` with the same
// settings.
namespace subfleet {

struct MemorySearch {
  Config config;  // resolved
  RateSearch search;
};

// A search that tries a single value of the searched setting. All such searches have the same draws of
// clients and masks. It ends when the value has reached the target, is lost, or has taken max_rounds.
MemorySearch search_of_one(const Config& config, double value, uint32_t classes);
// How many rounds its value took to the target; nothing if it did not reach it.
std::optional<uint32_t> rounds_to_target(const RateSearch& search_of_one);

// The candidates of all searches after a round.
struct CandidatesStand {
  uint32_t trained = 0;  // how many the round had
  double accuracy = 0;   // the highest
  uint64_t bytes = 0;    // exchanged by all of them so far
};

// Called after every round of all running candidates; return false to stop.
using AfterRound = std::function<bool(const CandidatesStand&)>;

// Runs new searches to their ends, with the candidates of all of them side by side. No search knows of the
// others. Returns false if it was stopped.
bool search_in_memory(std::span<MemorySearch> searches, Fleet& fleet, const AfterRound& after_round);

}  // namespace subfleet
