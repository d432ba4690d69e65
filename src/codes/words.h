#pragma once

#include <cstddef>
#include <cstdint>

#include "subfleet/codes.h"
#include "subfleet/random.h"

namespace subfleet {

// How many words of `length` bits have `weight` ones; 2^63 if there are more.
uint64_t count_words(size_t length, size_t weight);

// Every word of that weight, in lexicographic order: column 0 counts first, and 0 comes before 1. Only for
// small numbers of words.
CodeBook lexicographic_words(size_t length, size_t weight);

// Different words, chosen uniformly; rows <= count_words(length, weight).
CodeBook random_words(size_t length, size_t weight, size_t rows, Random& random);

}  // namespace subfleet
