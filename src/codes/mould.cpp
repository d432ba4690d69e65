#include "codes/mould.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

#include "subfleet/error.h"
#include "subfleet/random.h"

namespace subfleet {
namespace {

constexpr size_t kMostBits = size_t{1} << 28;

}  // namespace

void check_request(std::string_view family, const BookRequest& request) {
  if (request.length == 0) throw bad_request(family, "length 0 is no layer; at least 1 unit is needed");
  if (request.rows == 0) throw bad_request(family, "rows 0 is no round; at least 1 client is needed");
  const size_t most_rows = request.length > kMostBits ? 0 : kMostBits / ((request.length + 63) / 64 * 64);
  if (request.rows > most_rows) {
    throw bad_request(family, fmt::format("{} rows of {} bits are too many; a book holds at most 2^28 bits",
                                          request.rows, request.length));
  }
}

size_t kept_units(std::string_view family, size_t length, double keep) {
  if (!(keep > 0 && keep <= 1)) {
    throw bad_request(family, fmt::format("keep {} is not a fraction above 0 and up to 1", keep));
  }
  if (length == 0) throw bad_request(family, "length 0 is no layer; at least 1 unit is needed");
  return std::max<size_t>(1, static_cast<size_t>(std::llround(keep * static_cast<double>(length))));
}

void require_half(std::string_view family, double keep) {
  if (keep != 0.5) {
    throw bad_request(
        family,
        fmt::format("keep {} is not 0.5, the only fraction its words have; cwc and random take any fraction",
                    keep));
  }
}

CodeBook deal(const BookRequest& request, size_t word_count, const WordWriter& write_word) {
  Random row_random({request.seed, request.round, request.layer, Purpose::kShuffleRows});
  Random column_random({request.seed, request.round, request.layer, Purpose::kShuffleColumns});
  std::vector<uint32_t> columns(request.length);
  std::iota(columns.begin(), columns.end(), 0U);
  column_random.shuffle(std::span(columns));
  std::vector<uint32_t> order(word_count);
  std::iota(order.begin(), order.end(), 0U);

  CodeBook book(request.rows, request.length);
  std::vector<uint64_t> word(book.row(0).size());
  for (size_t row = 0; row < request.rows; ++row) {
    // A Fisher-Yates shuffle, one step a row, begun anew when every word was dealt.
    const size_t dealt = row % word_count;
    std::swap(order[dealt], order[dealt + row_random.below(static_cast<uint32_t>(word_count - dealt))]);
    std::ranges::fill(word, uint64_t{0});
    write_word(order[dealt], word);
    for (size_t i = 0; i < word.size(); ++i) {
      for (uint64_t ones = word[i]; ones != 0; ones &= ones - 1) {
        book.set_bit(row, columns[i * 64 + static_cast<size_t>(std::countr_zero(ones))], true);
      }
    }
  }
  return book;
}

CodeBook deal(const BookRequest& request, const CodeBook& words) {
  return deal(request, words.rows(), [&](size_t index, std::span<uint64_t> row) {
    std::ranges::copy(words.row(index), row.begin());
  });
}

CodeBook same_window(const BookRequest& request, size_t first, size_t weight) {
  CodeBook book(request.rows, request.length);
  for (size_t k = 0; k < weight; ++k) book.set_bit(0, (first + k) % request.length, true);
  for (size_t row = 1; row < request.rows; ++row) std::ranges::copy(book.row(0), book.row(row).begin());
  return book;
}

std::vector<uint32_t> window_order(size_t length, size_t first) {
  std::vector<uint32_t> units(length);
  std::iota(units.begin(), units.end(), 0U);
  std::rotate(units.begin(), units.begin() + static_cast<ptrdiff_t>(first), units.end());
  return units;
}

std::vector<uint32_t> CodeFamily::order(const BookRequest& request) const {
  std::vector<uint32_t> units = window_order(request.length, 0);
  Random random({request.seed, request.round, request.layer, Purpose::kTierUnits});
  random.shuffle(std::span(units));
  return units;
}

std::shared_ptr<const CodeBook> WordCache::get(const Key& key, const std::function<CodeBook()>& make) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(books_, key, &std::pair<Key, std::shared_ptr<const CodeBook>>::first);
  if (found != books_.end()) return found->second;
  if (books_.size() == kBooks) books_.pop_front();
  return books_.emplace_back(key, std::make_shared<const CodeBook>(make())).second;
}

}  // namespace subfleet
