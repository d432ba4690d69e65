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

// How the candidates stand after a round of all that run.
struct CandidatesStand {
  double accuracy = 0;  // the highest
  uint64_t bytes = 0;   // exchanged by all of them so far
};

// Called after every such round; false stops.
using AfterRound = std::function<bool(const CandidatesStand&)>;

// Runs the candidates of a search that has just begun to its end; false if it was stopped. `config` is the
// search's, and resolved.
bool search_in_memory(RateSearch& search, const Config& config, Fleet& fleet, const AfterRound& after_round);

// How many rounds a value took to the target of config.tune.
struct RoundsToTarget {
  double value = 0;
  std::optional<uint32_t> rounds;  // none: it was lost, or took max_rounds in vain
};

// Runs one candidate for each value of the searched setting side by side, all from the same weights and with
// the same draws of clients and masks, until each has reached the target, is lost or has taken max_rounds:
// nobody is abandoned because another was faster. None if it was stopped.
std::optional<std::vector<RoundsToTarget>> rounds_by_value(const Config& config,
                                                           std::span<const double> values, Fleet& fleet,
                                                           const AfterRound& after_round);

}  // namespace subfleet
