#include "subfleet/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

namespace subfleet {
namespace {

// Known answers published with Random123 (Salmon et al. 2011).
TEST(Random, PhiloxMatchesThePublishedVectors) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (std::array<uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, EveryPartOfTheKeyChangesTheStream) {
  const RandomKey base{.seed = 1, .round = 2, .client = 3, .purpose = Purpose::kTest};
  std::vector<RandomKey> keys(6, base);
  keys[1].seed = 2;
  keys[2].seed = base.seed + (uint64_t{1} << 32);
  keys[3].round = 3;
  keys[4].client = 4;
  keys[5].purpose = Purpose::kBatchOrder;
  std::set<uint64_t> first;
  for (const RandomKey& key : keys) first.insert(Random(key).next_u64());
  EXPECT_EQ(first.size(), keys.size());
  EXPECT_EQ(Random(base).next_u64(), Random(base).next_u64());
}

TEST(Random, BelowIsUniform) {
  Random random({.seed = 7});
  std::vector<int> counts(6, 0);
  for (int i = 0; i < 60000; ++i) ++counts[random.below(6)];
  for (const int count : counts) EXPECT_NEAR(count, 10000, 400);  // four standard deviations
}

TEST(Random, NormalHasMeanZeroAndVarianceOne) {
  Random random({.seed = 8});
  double sum = 0, squares = 0;
  constexpr int kDraws = 50000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.02);
  EXPECT_NEAR(squares / kDraws, 1, 0.03);
}

TEST(Random, ShuffleReachesEveryOrderEquallyOften) {
  Random random({.seed = 9});
  std::vector<int> counts(27, 0);
  for (int i = 0; i < 12000; ++i) {
    std::vector<int> items{0, 1, 2};
    random.shuffle(std::span(items));
    ++counts[items[0] * 9 + items[1] * 3 + items[2]];
  }
  for (const int order : {5, 7, 11, 15, 19, 21}) EXPECT_NEAR(counts[order], 2000, 170);
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0), 12000);
}

TEST(Random, FillsWithTheSameNumbers) {
  for (const size_t used : {0u, 1u, 2u, 3u}) {
    for (const size_t count : {0u, 1u, 2u, 7u, 1000u}) {
      Random one({.seed = 3}), other({.seed = 3});
      for (size_t i = 0; i < used; ++i) EXPECT_EQ(one.next_u32(), other.next_u32());
      std::vector<float> values(count);
      one.fill_uniform(values, -0.3, 0.2);
      for (const float value : values) EXPECT_EQ(value, static_cast<float>(other.uniform(-0.3, 0.2)));
      EXPECT_EQ(one.next_u32(), other.next_u32()) << used << " used, " << count << " filled";
    }
  }
}

}  // namespace
}  // namespace subfleet
