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
  size_t above = 0;  // the least distance that is to be beaten
};

// Different words of that weight with a large least distance, for lengths whose words are too many to
// enumerate: a local search that evens out the pairs' intersections or, for books too large to search, random
// words. Nothing if their least distance is not above the one to be beaten; there are always words for 0.
std::optional<CodeBook> spread_words(const SpreadRequest& request, Random& random);

}  // namespace subfleet
