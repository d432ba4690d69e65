#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "codes/families.h"
#include "codes/request_checks.h"
#include "codes/words.h"
#include "subfleet/random.h"

namespace subfleet {
namespace {

constexpr size_t kMostPairWork = size_t{1} << 21;  // rows^2 * 64-bit words per row, to set up the trades
constexpr size_t kMostCells = size_t{1} << 22;     // rows * length
constexpr size_t kTradeWork = 1'000'000;           // trades that are tried * rows: a few milliseconds

// Which words a book holds, by the sum (xor) of a random key for each of their ones. Two words that happen to
// have the same sum count as one; all that does is forbid a change.
class WordSet {
 public:
  WordSet(const CodeBook& book, Random& random) : keys_(book.length()), sums_(book.rows()) {
    for (uint64_t& key : keys_) key = random.next_u64();
    for (size_t row = 0; row < book.rows(); ++row) {
      for (const uint32_t unit : book.kept(row)) sums_[row] ^= keys_[unit];
      held_.insert(sums_[row]);
    }
  }

  size_t size() const { return held_.size(); }

  // Whether no row holds the word that the row becomes when one of the two units takes the other's place.
  bool is_new(size_t row, size_t unit, size_t other) const {
    return !held_.contains(sums_[row] ^ keys_[unit] ^ keys_[other]);
  }

  void change(size_t row, size_t unit, size_t other) {
    held_.erase(sums_[row]);
    sums_[row] ^= keys_[unit] ^ keys_[other];
    held_.insert(sums_[row]);
  }

 private:
  std::vector<uint64_t> keys_, sums_;  // by unit, by row
  std::unordered_set<uint64_t> held_;
};

// Moves ones within their rows until every unit is kept equally often, give or take one. If unit a is kept
// more often than b, more words have a without b than b without a. So at least one word can swap a for b
// without becoming another row's word.
void even_out(CodeBook& book, WordSet& words, Random& random) {
  std::vector<int64_t> surplus(book.length(), 0);
  size_t ones = 0;
  for (size_t row = 0; row < book.rows(); ++row) {
    for (const uint32_t unit : book.kept(row)) ++surplus[unit];
    ones += book.weight(row);
  }
  std::vector<uint32_t> units(book.length());
  std::iota(units.begin(), units.end(), 0U);
  random.shuffle(std::span(units));
  std::ranges::stable_sort(units, std::ranges::greater{}, [&](uint32_t unit) { return surplus[unit]; });
  // The rest that cannot be shared equally goes to the units that have the most.
  for (size_t i = 0; i < units.size(); ++i)
    surplus[units[i]] -= static_cast<int64_t>(ones / book.length() + (i < ones % book.length() ? 1 : 0));

  auto giver = units.begin();
  for (auto taker = units.rbegin(); taker != units.rend(); ++taker) {
    for (; surplus[*taker] < 0; ++surplus[*taker]) {
      while (surplus[*giver] <= 0) ++giver;
      size_t row = random.below(static_cast<uint32_t>(book.rows()));
      while (!book.bit(row, *giver) || book.bit(row, *taker) || !words.is_new(row, *giver, *taker))
        row = (row + 1) % book.rows();
      words.change(row, *giver, *taker);
      book.set_bit(row, *giver, false);
      book.set_bit(row, *taker, true);
      --surplus[*giver];
    }
  }
}

// Two rows trade a unit each: `first` gives a unit that `second` lacks for one that it lacks itself. Rows
// keep their weight and units stay equally kept, so the sum of all overlaps stays; the trades lower the sum
// of their squares. Only integers: the same words on every machine.
class Trades {
 public:
  Trades(CodeBook& book, WordSet& words, size_t weight);

  void run(Random& random);

 private:
  struct Trade {
    size_t first, second;  // rows
    size_t given, taken;   // units, as the first row sees it
  };
  uint32_t& any_rarer(size_t row, Random& random) {
    return rarer_[row * rarer_count_ + random.below(static_cast<uint32_t>(rarer_count_))];
  }
  int64_t change(const Trade& trade) const;  // of the sum of squares over all pairs
  void apply(const Trade& trade);

  CodeBook& book_;
  WordSet& words_;
  size_t rows_;
  bool ones_are_rarer_;
  size_t rarer_count_;
  std::vector<uint32_t> rarer_;   // [row][count]: the units of the row's ones or zeros, whichever are fewer
  std::vector<uint8_t> cells_;    // [unit][row]
  std::vector<int32_t> overlap_;  // [row][row]; 0 on the diagonal
  int64_t excess_ = 0;            // of the sum of squares, over that of overlaps that differ by one at most
};

Trades::Trades(CodeBook& book, WordSet& words, size_t weight)
    : book_(book),
      words_(words),
      rows_(book.rows()),
      ones_are_rarer_(2 * weight <= book.length()),
      rarer_count_(ones_are_rarer_ ? weight : book.length() - weight),
      cells_(rows_ * book.length()),
      overlap_(rows_ * rows_) {
  rarer_.reserve(rows_ * rarer_count_);
  int64_t sum = 0;
  for (size_t row = 0; row < rows_; ++row) {
    for (uint32_t unit = 0; unit < book.length(); ++unit) {
      const bool kept = book.bit(row, unit);
      cells_[unit * rows_ + row] = kept ? 1 : 0;
      if (kept == ones_are_rarer_) rarer_.push_back(unit);
    }
    for (size_t other = 0; other < row; ++other) {
      const auto shared = static_cast<int32_t>(weight - book.distance(row, other) / 2);
      overlap_[row * rows_ + other] = overlap_[other * rows_ + row] = shared;
      sum += shared;
      excess_ += int64_t{shared} * shared;
    }
  }
  const auto pairs = static_cast<int64_t>(rows_ * (rows_ - 1) / 2);
  const int64_t least = sum / pairs;
  excess_ -= pairs * least * least + (sum % pairs) * (2 * least + 1);
}

int64_t Trades::change(const Trade& trade) const {
  const uint8_t* given = cells_.data() + trade.given * rows_;
  const uint8_t* taken = cells_.data() + trade.taken * rows_;
  const int32_t* first = overlap_.data() + trade.first * rows_;
  const int32_t* second = overlap_.data() + trade.second * rows_;
  // With a third row, the first row's overlap x becomes x + step and the second's, y, y - step.
  int32_t half = 0;
  for (size_t row = 0; row < rows_; ++row) {
    const int32_t step = taken[row] - given[row];
    half += step * (first[row] - second[row] + step);
  }
  // The two rows themselves were counted too, with a 0 for the overlap with itself.
  half -= 2 * (first[trade.second] + 1);
  return 2 * int64_t{half};
}

void Trades::apply(const Trade& trade) {
  const auto& [first, second, given, taken] = trade;
  for (size_t row = 0; row < rows_; ++row) {
    if (row == first || row == second) continue;
    const int32_t step = cells_[taken * rows_ + row] - cells_[given * rows_ + row];
    overlap_[first * rows_ + row] = overlap_[row * rows_ + first] += step;
    overlap_[second * rows_ + row] = overlap_[row * rows_ + second] -= step;
  }
  for (const auto& [row, keeps] : {std::pair{first, taken}, {second, given}}) {
    const size_t drops = keeps == taken ? given : taken;
    cells_[keeps * rows_ + row] = 1;
    cells_[drops * rows_ + row] = 0;
    book_.set_bit(row, keeps, true);
    book_.set_bit(row, drops, false);
    words_.change(row, keeps, drops);
  }
}

void Trades::run(Random& random) {
  for (size_t tries = kTradeWork / rows_; tries > 0 && excess_ > 0; --tries) {
    const size_t first = random.below(static_cast<uint32_t>(rows_));
    const size_t second = random.below(static_cast<uint32_t>(rows_));
    uint32_t& of_first = any_rarer(first, random);
    uint32_t& of_second = any_rarer(second, random);
    const Trade trade{.first = first,
                      .second = second,
                      .given = ones_are_rarer_ ? of_first : of_second,
                      .taken = ones_are_rarer_ ? of_second : of_first};
    const auto kept = [&](size_t row, size_t unit) { return cells_[unit * rows_ + row] != 0; };
    if (!kept(first, trade.given) || kept(second, trade.given)) continue;
    if (kept(first, trade.taken) || !kept(second, trade.taken)) continue;
    const int64_t changed = change(trade);
    if (changed > 0) continue;
    if (!words_.is_new(first, trade.given, trade.taken)) continue;
    if (!words_.is_new(second, trade.given, trade.taken)) continue;
    apply(trade);
    std::swap(of_first, of_second);
    excess_ += changed;
  }
}

// Different words, for requests of fewer words than exist. They begin as words of `legendre`, which already
// overlap little, or as random words if it has too few.
CodeBook draw_different(const BookRequest& request, size_t weight, Random& random) {
  const size_t length = request.length;
  const size_t rows = request.rows;
  CodeBook book = legendre_family().draw(request);
  WordSet words(book, random);
  if (words.size() < rows) {
    book = random_words(length, weight, rows, random);
    words = WordSet(book, random);
  }
  even_out(book, words, random);
  const bool can_trade = rows * rows * book.row(0).size() <= kMostPairWork && rows * length <= kMostCells;
  if (can_trade && rows >= 2) Trades(book, words, weight).run(random);
  return book;
}

// Every unit is kept by as many clients as any other, give or take one. That also makes the mean overlap of
// two words as small as their number and weight allow.
class Balanced final : public CodeFamily {
 public:
  std::string_view name() const override { return "balanced"; }
  std::string_view summary() const override {
    return "every unit is kept equally often, give or take one; small overlaps; any length and kept fraction";
  }

  size_t weight(size_t length, double keep) const override { return kept_units(name(), length, keep); }

  CodeBook draw(const BookRequest& request) const override {
    check_request(name(), request);
    const size_t ones = weight(request.length, request.keep);
    Random random({request.seed, request.round, request.layer, Purpose::kCodeWords});
    const uint64_t all = count_words(request.length, ones);
    if (request.rows < all) return draw_different(request, ones, random);

    // All words, as often as that goes, keep every unit equally often; the others are different ones.
    const CodeBook every = lexicographic_words(request.length, ones);
    std::vector<uint32_t> order(request.rows);
    std::iota(order.begin(), order.end(), 0U);
    random.shuffle(std::span(order));
    CodeBook book(request.rows, request.length);
    const size_t repeated = request.rows / all * all;
    for (size_t i = 0; i < repeated; ++i) std::ranges::copy(every.row(i % all), book.row(order[i]).begin());
    if (repeated == request.rows) return book;
    BookRequest others = request;
    others.rows -= repeated;
    const CodeBook rest = draw_different(others, ones, random);
    for (size_t i = 0; i < rest.rows(); ++i)
      std::ranges::copy(rest.row(i), book.row(order[repeated + i]).begin());
    return book;
  }
};

}  // namespace

const CodeFamily& balanced_family() {
  static const Balanced family;
  return family;
}

}  // namespace subfleet
