#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "subfleet/codes.h"

// How a family with a fixed set of words makes the book of a round.
namespace subfleet {

// Writes base word `index` into a row of zeros.
using WordWriter = std::function<void(size_t index, std::span<uint64_t> row)>;

// Deals a round's book from `word_count` base words. Rows and columns are shuffled by (seed, round, layer); a
// word is used again only after all others were used. Calls `write_word` once per row, in order.
CodeBook deal(const BookRequest& request, size_t word_count, const WordWriter& write_word);
CodeBook deal(const BookRequest& request, const CodeBook& words);

// Keeps the base words of the last requests: enough for all layers of many runs side by side. Threads may
// make different books at the same time; each book is made once. If `make` finds no words and returns
// nothing, that is kept too.
class WordCache {
 public:
  using Key = std::array<uint64_t, 4>;
  using Words = std::shared_ptr<const CodeBook>;
  Words get(const Key& key, const std::function<std::optional<CodeBook>()>& make);

  static constexpr size_t kBooks = 256;

 private:
  std::mutex mutex_;
  std::deque<std::pair<Key, std::shared_future<Words>>> books_;
};

}  // namespace subfleet
