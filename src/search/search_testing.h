#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "subfleet/rate_search.h"

namespace subfleet {

// A search in which a value reaches 30 % after rounds_of() rounds; if that is 0, it diverges in its second
// round.
inline RateSearch search_with(const std::function<double(double log10)>& rounds_of, uint32_t outward = 4,
                              uint32_t max_rounds = 100) {
  RateSearch search({.start = 0.01,
                     .steps = 1,
                     .outward = outward,
                     .target = 0.3,
                     .window = 1,
                     .max_rounds = max_rounds,
                     .guess_loss = 4,
                     .low = 0,
                     .high = 1e6});
  while (!search.running().empty()) {
    std::vector<CandidateRound> rounds;
    for (const size_t index : search.running()) {
      const Candidate& candidate = search.candidates()[index];
      const double needed = rounds_of(std::log10(candidate.value)), now = candidate.round_count() + 1;
      const bool lost = needed == 0 && now == 2;
      rounds.push_back({.accuracy = lost          ? std::numeric_limits<double>::quiet_NaN()
                                    : needed == 0 ? 0.01
                                                  : 0.3 * now / needed,
                        .loss = 1,
                        .bytes = 10});
    }
    search.record(rounds);
  }
  return search;
}

inline double valley(double at) { return at > -1.2 ? 0 : 20 + 16 * std::abs(at + 2); }

}  // namespace subfleet
