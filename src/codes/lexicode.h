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

// The paper's Algorithm 2: from a random word on, the first word in lexicographic order at least d_min from
// all chosen; d_min starts at the length and is lowered by 2, and the set begun anew, whenever no word is
// left. It has fewer than `rows` words only where most_steps ran out. (Words of equal weight are an even
// distance apart: for an odd length an odd d_min asks for d_min + 1.)
CodeBook lexicode(const LexicodeRequest& request, Random& random);

}  // namespace subfleet
