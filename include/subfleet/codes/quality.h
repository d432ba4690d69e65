#pragma once

#include <cstddef>
#include <optional>

#include "subfleet/codes.h"

namespace subfleet {

// How good a book is. Correlations are those of the paper, of words of +1 and -1, not divided by the length,
// and in absolute value; they and the distances are over pairs of different rows.
struct BookQuality {
  size_t rows = 0, length = 0;
  size_t distinct_words = 0;
  size_t least_weight = 0, largest_weight = 0;

  // Over the first `pair_rows` rows: all but in very large books. Nothing for a single row.
  size_t pair_rows = 0;
  std::optional<size_t> correlation{};  // at shift 0, which is what masks feel
  std::optional<size_t> least_distance{};
  std::optional<double> mean_distance{};
  std::optional<size_t> largest_overlap{};  // units that both rows of a pair keep
  std::optional<double> mean_overlap{};
  // No book of as many words, all of one weight, has a larger least distance. Empty if the weights differ.
  std::optional<size_t> distance_bound{};
  // Over all circular shifts of one row of the pair; over the first `shift_rows` rows. Empty if it was not
  // asked for, or if comparing even two rows would take too long.
  size_t shift_rows = 0;
  std::optional<size_t> shifted_correlation{};

  // How many rows keep a unit.
  size_t least_coverage = 0, largest_coverage = 0;
  double mean_coverage = 0;
  size_t uncovered_units = 0;
};

enum class Shifts { kAll, kNone };  // whether to measure the correlation over shifts, which takes longest

BookQuality measure(const CodeBook& book, Shifts shifts = Shifts::kAll);

}  // namespace subfleet
