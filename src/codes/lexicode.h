#pragma once

#include <cstddef>
#include <limits>

#include "subfleet/codes.h"
#include "subfleet/random.h"

namespace subfleet {

struct LexicodeRequest {
  size_t length = 0;
  size_t weight = 0;
  size_t rows = 0;                                         // at most count_words(length, weight)
  size_t most_steps = std::numeric_limits<size_t>::max();  // t_max
};

// The paper's Algorithm 2. Starting from a random word, it takes the first word in lexicographic order that
// is at least d_min from all chosen ones. d_min starts at the length. If no word is left, it is lowered by 2
// and the set begins anew. The result has fewer than `rows` words only if most_steps ran out. (Words of equal
// weight are an even distance apart, so an odd d_min is the same as d_min + 1.)
CodeBook lexicode(const LexicodeRequest& request, Random& random);

}  // namespace subfleet
