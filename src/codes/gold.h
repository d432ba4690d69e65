#pragma once

#include <vector>

#include "codes/sequences.h"

namespace subfleet {

// The 2^n + 1 Gold words u, v and u + T^k v, balanced or not. They come from the preferred pair of degree n
// in {5, 6, 7, 9, 10, 11}, or from Niho's pair of degree 8.
std::vector<Bits> gold_words(int degree);

}  // namespace subfleet
