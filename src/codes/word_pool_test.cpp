#include "codes/word_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <stdexcept>
#include <vector>

namespace subfleet {
namespace {

WordCache::Key key_of(uint64_t seed) { return {64, 32, 35, seed}; }

TEST(WordCache, ManyRunsOfManyLayersMakeTheirWordsOnce) {
  WordCache cache;
  int made = 0;
  for (int round = 0; round < 3; ++round) {
    for (uint64_t seed = 0; seed < WordCache::kBooks; ++seed) {
      const WordCache::Words words = cache.get(key_of(seed), [&] {
        ++made;
        return CodeBook(seed + 1, 64);
      });
      EXPECT_EQ(words->rows(), seed + 1);
    }
  }
  EXPECT_EQ(made, WordCache::kBooks);
}

TEST(WordCache, ForgetsTheOldestFirst) {
  WordCache cache;
  const auto make = [] { return CodeBook(1, 64); };
  for (uint64_t seed = 0; seed <= WordCache::kBooks; ++seed) cache.get(key_of(seed), make);
  const auto never = []() -> std::optional<CodeBook> { throw std::logic_error("made again"); };
  EXPECT_NO_THROW(cache.get(key_of(1), never));
  EXPECT_THROW(cache.get(key_of(0), never), std::logic_error);
}

TEST(WordCache, ThatThereAreNoWordsIsKnownFromThenOn) {
  WordCache cache;
  EXPECT_EQ(cache.get(key_of(0), [] { return std::nullopt; }), nullptr);
  EXPECT_EQ(cache.get(key_of(0), [] { return CodeBook(1, 64); }), nullptr);
}

// Two books are made at the same time (each waits for the other here); whoever asks for one that is being
// made waits for it.
TEST(WordCache, ThreadsMakeDifferentBooksAtOnceAndEachOnce) {
  WordCache cache;
  std::latch both(2);
  std::atomic<int> made = 0;
  std::vector<std::future<WordCache::Words>> asked;
  for (uint64_t i = 0; i < 8; ++i) {
    asked.push_back(std::async(std::launch::async, [&, i] {
      return cache.get(key_of(i % 2), [&] {
        both.arrive_and_wait();
        ++made;
        return CodeBook(1 + i % 2, 64);
      });
    }));
  }
  for (size_t i = 0; i < asked.size(); ++i) EXPECT_EQ(asked[i].get()->rows(), 1 + i % 2);
  EXPECT_EQ(made, 2);
}

}  // namespace
}  // namespace subfleet
