#pragma once

#include <cstddef>
#include <cstdint>

namespace subfleet {

// No set of `rows` words of that length and weight has a larger least distance. The best of three bounds: the
// mean intersection of pairs over columns as evenly used as possible (Plotkin, Johnson), and the same for the
// words that share a 1, or a 0, in one column (Johnson's recursion). Two rows at least, of at most 2^28 bits
// together.
size_t least_distance_bound(size_t length, size_t weight, size_t rows);

// Johnson's upper bound on A(length, distance, weight), the most words that keep that distance; at most 2^20
// is told.
size_t johnson_bound(size_t length, size_t distance, size_t weight);

}  // namespace subfleet
