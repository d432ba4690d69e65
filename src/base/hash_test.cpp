#include "base/hash.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace subfleet {
namespace {

TEST(Hash, EveryByteAndEveryLengthCounts) {
  std::set<uint64_t> seen;
  std::string text(100, 'x');
  seen.insert(Hash().add(text).value());
  for (size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] = 'y';
    seen.insert(Hash().add(other).value());
    seen.insert(Hash().add(text.substr(0, i)).value());
  }
  EXPECT_EQ(seen.size(), 1 + 2 * text.size());
  EXPECT_NE(Hash().add("ab").add("c").value(), Hash().add("a").add("bc").value());
}

TEST(Hash, IsTheSameOnEveryMachine) {
  EXPECT_EQ(Hash().add("subfleet").add(7).value(), 12509748397382350038U);
}

}  // namespace
}  // namespace subfleet
