#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "subfleet/codes.h"

// What the families share.
namespace subfleet {

// Throws Error unless rows, length and kept fraction make sense for any family at all.
void check_request(std::string_view family, const BookRequest& request);

// round(keep * length), at least one unit; throws Error for a fraction outside (0, 1].
size_t kept_units(std::string_view family, size_t length, double keep);

// Throws Error unless keep is 1/2, naming the families that take another.
void require_half(std::string_view family, double keep);

// Writes base word `index` into a row of zeros.
using WordWriter = std::function<void(size_t index, std::span<uint64_t> row)>;

// Deals a round's book from `word_count` base words: rows and columns are shuffled by (seed, round, layer),
// and a word is used again only after all were used.
CodeBook deal(const BookRequest& request, size_t word_count, const WordWriter& write_word);
CodeBook deal(const BookRequest& request, const CodeBook& words);

// Every client gets the units of one window of `weight` units that starts at `first` and goes round the end.
CodeBook same_window(const BookRequest& request, size_t first, size_t weight);

// All units from `first` on, going round the end.
std::vector<uint32_t> window_order(size_t length, size_t first);

// Keeps the base words of the last few requests. Safe to use from many threads; a book is made once.
class WordCache {
 public:
  using Key = std::array<uint64_t, 4>;
  std::shared_ptr<const CodeBook> get(const Key& key, const std::function<CodeBook()>& make);

 private:
  static constexpr size_t kBooks = 8;
  std::mutex mutex_;
  std::deque<std::pair<Key, std::shared_ptr<const CodeBook>>> books_;
};

}  // namespace subfleet
