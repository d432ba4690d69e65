#pragma once

#include <cstddef>
#include <cstdint>

namespace subfleet {

// An upper bound on the least distance of `rows` words of that length and weight: the best of three bounds.
// One is the mean intersection of pairs when columns are used as evenly as possible (Plotkin, Johnson). The
// others are the same for the words that share a 1, or a 0, in one column (Johnson's recursion). Takes at
// least two rows, of at most 2^28 bits together.
size_t least_distance_bound(size_t length, size_t weight, size_t rows);

// Johnson's upper bound on A(length, distance, weight), the most words that keep that distance. Never more
// than 2^20.
size_t johnson_bound(size_t length, size_t distance, size_t weight);

}  // namespace subfleet
