#pragma once

#include <cstddef>

#include "subfleet/codes.h"
#include "subfleet/random.h"

namespace subfleet {

// Different words of that weight with a large least distance, for lengths whose words are too many to
// enumerate: Hadamard rows where they reach the bound, else a local search that evens out the pairs'
// intersections, else, for books too large to search, random words. rows <= count_words(length, weight).
CodeBook spread_words(size_t length, size_t weight, size_t rows, Random& random);

}  // namespace subfleet
