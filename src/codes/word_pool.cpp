#include "codes/word_pool.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "subfleet/random.h"

namespace subfleet {

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
    // A Fisher-Yates shuffle, one step per row, begun anew when every word was dealt.
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

WordCache::Words WordCache::get(const Key& key, const std::function<std::optional<CodeBook>()>& make) {
  std::packaged_task<Words()> making([&] {
    std::optional<CodeBook> made = make();
    return made ? std::make_shared<const CodeBook>(*std::move(made)) : nullptr;
  });
  std::shared_future<Words> words;
  bool is_new = false;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find(books_, key, [](const auto& kept) { return kept.first; });
    is_new = found == books_.end();
    words = is_new ? making.get_future().share() : found->second;
    if (is_new && books_.size() == kBooks) books_.pop_front();
    if (is_new) books_.emplace_back(key, words);
  }
  if (is_new) making();
  return words.get();
}

}  // namespace subfleet
