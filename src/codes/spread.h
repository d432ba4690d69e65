#pragma once

#include <cstddef>
#include <optional>

#include "subfleet/codes.h"
#include "subfleet/random.h"

namespace subfleet {

struct SpreadRequest {
  size_t length = 0;
  size_t weight = 0;
  size_t rows = 0;   // at most count_words(length, weight)
  size_t above = 0;  // the least distance to beat
};

// Different words of that weight with a large least distance, for lengths with too many words to enumerate. A
// local search evens out the pairs' intersections; books too large to search get random words. Returns
// nothing if their least distance is not above `above`; with 0 there are always words.
std::optional<CodeBook> spread_words(const SpreadRequest& request, Random& random);

}  // namespace subfleet
