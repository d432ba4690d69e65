#pragma once

#include <vector>

#include "codes/sequences.h"

namespace subfleet {

// The 2^(3n/2) words u + a + b of even degree n in {4, 6, 8, 10}, where
//   u is an m-sequence,
//   a is 0 or one of the 2^n - 1 sequences u[i + t j], t = 2^(n/2 + 1) + 1,
//   b is 0 or a shift of the m-sequence of degree n/2 that u holds in steps of 2^(n/2) + 1.
// They are ordered by b, then a, each with 0 first. The words with a = 0 are the small Kasami set; all words
// together are the large set.
std::vector<Bits> kasami_words(int degree);

}  // namespace subfleet
