#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "wire/codecs.h"
#include "wire/int8_rule.h"

namespace subfleet {
namespace {

TEST(Int8, EveryValueIsOffByAtMostHalfAScale) {
  Random random({.seed = 5});
  std::vector<float> values(2500);
  for (size_t i = 0; i < values.size(); ++i)  // the second block is much larger than the others
    values[i] = static_cast<float>(random.normal()) * (i / kInt8Block == 1 ? 1e4f : 1e-3f);
  std::vector<float> got = values;
  int8_codec().transmit(got, {});
  for (size_t first = 0; first < values.size(); first += kInt8Block) {
    const size_t end = std::min(first + kInt8Block, values.size());
    float largest = 0;
    for (size_t i = first; i < end; ++i) largest = std::max(largest, std::abs(values[i]));
    for (size_t i = first; i < end; ++i) EXPECT_LE(std::abs(got[i] - values[i]), largest / 127 * 0.50001f);
  }
}

TEST(Int8, TiesGoToEven) {
  std::vector<float> values{127.0f, 0.5f, 1.5f, -2.5f, -127.0f};
  int8_codec().transmit(values, {});
  EXPECT_EQ(values, (std::vector<float>{127, 0, 2, -2, -127}));
}

// One byte per value, and a scale for each block of 1,024, of which the last may be shorter.
TEST(Int8, TakesAByteForEachValue) {
  EXPECT_EQ(int8_codec().encoded_size(0), 0u);
  EXPECT_EQ(int8_codec().encoded_size(1), 5u);
  EXPECT_EQ(int8_codec().encoded_size(1024), 1028u);
  EXPECT_EQ(int8_codec().encoded_size(1025), 1033u);
}

}  // namespace
}  // namespace subfleet
