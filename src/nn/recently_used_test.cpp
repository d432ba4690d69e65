#include "nn/recently_used.h"

#include <gtest/gtest.h>

namespace subfleet {
namespace {

TEST(RecentlyUsed, KeepsWhatWasUsedLastAndMakesTheRest) {
  std::vector<int> made;
  RecentlyUsed<int, int> kept(2);
  const auto get = [&](int key) {
    return kept.get(key, [&](int k) {
      made.push_back(k);
      return 10 * k;
    });
  };
  for (const int key : {1, 2, 1, 3, 1, 2}) EXPECT_EQ(get(key), 10 * key);
  EXPECT_EQ(made, (std::vector{1, 2, 3, 2}));  // 3 took the place of 2, not of 1
}

}  // namespace
}  // namespace subfleet
