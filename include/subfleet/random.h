#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>

namespace subfleet {

// What a random number is for. Part of the key, so that no two uses share a stream. Values are part of every
// run's identity: append, never renumber.
enum class Purpose : uint32_t {
  kInitialWeights = 1,
  kSampleClients = 2,
  kCodeWords = 3,
  kShuffleRows = 4,
  kShuffleColumns = 5,
  kBatchOrder = 6,
  kTestSplit = 7,
  kTestChoice = 8,
  kGlyphWriter = 9,
  kGlyphSample = 10,
  kTier = 11,
  kTierUnits = 12,
  kLabelSkew = 13,
  kComplementWords = 14,
  kWireDown = 15,
  kWireUp = 16,
  kDeal = 17,
  kAugment = 18,
  kProgram = 19,  // what a program of one's own draws as it trains a client
  kTest = 100,    // unit tests and benchmarks
};

// Names a stream of random numbers. `round` and `client` are whatever two indices tell the uses apart.
struct RandomKey {
  uint64_t seed = 0;
  uint32_t round = 0;
  uint32_t client = 0;
  Purpose purpose = Purpose::kTest;
};

// A counter-based stream (Philox4x32-10, Salmon et al. 2011): the n-th number is a pure function of the key
// and n, the same on every machine and for any number of threads.
class Random {
 public:
  explicit Random(const RandomKey& key);

  uint32_t next_u32();
  uint64_t next_u64();
  uint32_t below(uint32_t bound);  // uniform in [0, bound), without bias; bound > 0
  double uniform();                // [0, 1)
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  // What uniform(low, high) gives for one value after the other, faster.
  void fill_uniform(std::span<float> values, double low, double high);
  double normal();  // mean 0, variance 1

  template <typename T>
  void shuffle(std::span<T> items) {  // Fisher-Yates
    for (auto i = static_cast<uint32_t>(items.size()); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 4> counter_;
  std::array<uint32_t, 4> block_{};
  int used_ = 4;
};

// One Philox4x32-10 block: four numbers of a stream. Kernels call it, too.
constexpr std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * counter[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

}  // namespace subfleet
