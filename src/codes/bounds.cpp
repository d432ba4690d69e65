#include "codes/bounds.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "codes/words.h"

namespace subfleet {
namespace {

uint64_t pairs(uint64_t count) { return count * (count - 1) / 2; }

uint64_t divide_up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

// Ones fall on the columns as evenly as they can, which makes the fewest pairs of words that share a column;
// some pair then shares at least the mean.
size_t mean_bound(size_t length, size_t weight, size_t rows) {
  const uint64_t each = rows * weight / length;
  const uint64_t fuller = rows * weight % length;
  const uint64_t shared = fuller * pairs(each + 1) + (length - fuller) * (each == 0 ? 0 : pairs(each));
  return 2 * (weight - divide_up(shared, pairs(rows)));
}

class DistanceBound {
 public:
  size_t operator()(size_t length, size_t weight, size_t rows, int depth) {
    const auto key = std::tuple(length, weight, rows);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    size_t bound = mean_bound(length, weight, rows);
    if (depth > 0 && length > 1) {
      const size_t sharing_one = divide_up(rows * weight, length);
      const size_t sharing_zero = divide_up(rows * (length - weight), length);
      if (sharing_one > 1 && weight > 0) {
        bound = std::min(bound, (*this)(length - 1, weight - 1, sharing_one, depth - 1));
      }
      if (sharing_zero > 1 && weight < length) {
        bound = std::min(bound, (*this)(length - 1, weight, sharing_zero, depth - 1));
      }
    }
    known_[key] = bound;
    return bound;
  }

 private:
  std::map<std::tuple<size_t, size_t, size_t>, size_t> known_;
};

constexpr int kDepth = 40;

}  // namespace

size_t least_distance_bound(size_t length, size_t weight, size_t rows) {
  if (count_words(length, weight) < rows) return 0;
  return DistanceBound()(length, weight, rows, kDepth);
}

size_t johnson_bound(size_t length, size_t distance, size_t weight) {
  // The bound on the distance does not grow with the rows: the most rows are found by halving.
  size_t possible = 1;
  size_t impossible = std::min<uint64_t>(count_words(length, weight), uint64_t{1} << 20) + 1;
  while (impossible - possible > 1) {
    const size_t middle = possible + (impossible - possible) / 2;
    (least_distance_bound(length, weight, middle) >= distance ? possible : impossible) = middle;
  }
  return possible;
}

}  // namespace subfleet
