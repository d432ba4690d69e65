#include "codes/spread.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "codes/bounds.h"
#include "codes/words.h"

namespace subfleet {
namespace {

constexpr size_t kMostPairWork = size_t{1} << 26;  // rows^2 * 64-bit words per row, to set up the search
constexpr size_t kMostCells = size_t{1} << 23;     // rows * length
constexpr size_t kSearchWork = 100'000'000;        // moves * rows

// Lowers sum over pairs of (intersection - target)^2 by moves of one 1 within one row, until no pair is over
// the allowed intersection or the work is spent. Only integers: the same words on every machine.
class IntersectionSearch {
 public:
  IntersectionSearch(const CodeBook& start, size_t weight, size_t allowed);

  void run(Random& random);
  size_t largest() const;
  CodeBook words() const;

 private:
  struct Move {
    size_t row, give, take;  // positions in the row's columns: give < weight <= take
  };
  int64_t change(const Move& move) const;
  void apply(const Move& move);

  const uint8_t* column(size_t row, size_t position) const {
    return cells_.data() + columns_[row * length_ + position] * rows_;
  }

  size_t rows_, length_, weight_;
  int32_t allowed_, target_;
  size_t over_ = 0;                // pairs over the allowed intersection
  std::vector<uint8_t> cells_;     // [column][row]
  std::vector<uint32_t> columns_;  // [row][position]: the row's `weight` ones, then its zeros
  std::vector<int32_t> shared_;    // [row][row]: intersections; the target on the diagonal
};

IntersectionSearch::IntersectionSearch(const CodeBook& start, size_t weight, size_t allowed)
    : rows_(start.rows()),
      length_(start.length()),
      weight_(weight),
      allowed_(static_cast<int32_t>(allowed)),
      target_(allowed_ - 1),
      cells_(rows_ * length_),
      columns_(rows_ * length_),
      shared_(rows_ * rows_) {
  for (size_t row = 0; row < rows_; ++row) {
    const auto begin = columns_.begin() + static_cast<std::ptrdiff_t>(row * length_);
    std::iota(begin, begin + static_cast<std::ptrdiff_t>(length_), 0U);
    std::stable_partition(begin, begin + static_cast<std::ptrdiff_t>(length_),
                          [&](uint32_t column) { return start.bit(row, column); });
    for (size_t c = 0; c < length_; ++c) cells_[c * rows_ + row] = start.bit(row, c);
    shared_[row * rows_ + row] = target_;
    for (size_t other = 0; other < row; ++other) {
      const auto common = static_cast<int32_t>(weight - start.distance(row, other) / 2);
      shared_[row * rows_ + other] = shared_[other * rows_ + row] = common;
      over_ += common > allowed_;
    }
  }
}

int64_t IntersectionSearch::change(const Move& move) const {
  const uint8_t* given = column(move.row, move.give);
  const uint8_t* taken = column(move.row, move.take);
  const int32_t* shared = shared_.data() + move.row * rows_;
  // (s + step)^2 - s^2 = step (2 s + step), where the row itself, with s = 0 and step = -1, counts 1 too
  // much.
  int64_t sum = -1;
  for (size_t other = 0; other < rows_; ++other) {
    const int32_t step = taken[other] - given[other];
    sum += step * (2 * (shared[other] - target_) + step);
  }
  return sum;
}

void IntersectionSearch::apply(const Move& move) {
  uint32_t& given = columns_[move.row * length_ + move.give];
  uint32_t& taken = columns_[move.row * length_ + move.take];
  cells_[given * rows_ + move.row] = 0;
  for (size_t other = 0; other < rows_; ++other) {
    const int32_t step = cells_[taken * rows_ + other] - cells_[given * rows_ + other];
    if (step == 0) continue;
    int32_t& shared = shared_[move.row * rows_ + other];
    over_ -= shared > allowed_;
    shared += step;
    over_ += shared > allowed_;
    shared_[other * rows_ + move.row] = shared;
  }
  cells_[taken * rows_ + move.row] = 1;
  std::swap(given, taken);
}

void IntersectionSearch::run(Random& random) {
  for (size_t moves = kSearchWork / rows_; moves > 0 && over_ > 0; --moves) {
    const size_t row = random.below(static_cast<uint32_t>(rows_));
    const size_t give = random.below(static_cast<uint32_t>(weight_));
    const size_t take = weight_ + random.below(static_cast<uint32_t>(length_ - weight_));
    const Move move{.row = row, .give = give, .take = take};
    if (change(move) <= 0) apply(move);
  }
}

size_t IntersectionSearch::largest() const {
  int32_t most = 0;
  for (size_t row = 0; row < rows_; ++row) {
    for (size_t other = 0; other < row; ++other) most = std::max(most, shared_[row * rows_ + other]);
  }
  return static_cast<size_t>(most);
}

CodeBook IntersectionSearch::words() const {
  CodeBook book(rows_, length_);
  for (size_t row = 0; row < rows_; ++row) {
    for (size_t k = 0; k < weight_; ++k) book.set_bit(row, columns_[row * length_ + k], true);
  }
  return book;
}

}  // namespace

std::optional<CodeBook> spread_words(const SpreadRequest& request, Random& random) {
  const auto& [length, weight, rows, above] = request;
  if (rows < 2) return random_words(length, weight, rows, random);
  const size_t bound = least_distance_bound(length, weight, rows);
  if (above > 0 && above >= bound) return std::nullopt;

  CodeBook start = random_words(length, weight, rows, random);
  const bool can_search = rows * rows * start.row(0).size() <= kMostPairWork && rows * length <= kMostCells;
  if (can_search && weight < length) {
    IntersectionSearch search(start, weight, weight - bound / 2);
    search.run(random);
    if (2 * (weight - search.largest()) > above) return search.words();
  }
  if (above > 0) return std::nullopt;
  return start;
}

}  // namespace subfleet
