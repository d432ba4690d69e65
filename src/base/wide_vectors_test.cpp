#include "base/wide_vectors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace subfleet {
namespace {

constexpr uint32_t kCount = 1003;  // no multiple of any width

struct Columns {
  std::vector<float> values = std::vector<float>(kCount);
  std::vector<uint64_t> counts = std::vector<uint64_t>(kCount, 3);
};

float value_at(uint32_t i) {
  const float x = 0.1f * static_cast<float>(static_cast<int32_t>(i)) - 40.0f;
  return x * x / (1.0f + std::abs(x)) + 0.3f * x;
}

uint64_t count_at(uint32_t i, uint64_t before) { return before * 0x9E3779B97F4A7C15u + uint64_t{i} * 7; }

// One element at a time on any machine: the compiler cannot make vectors of volatile reads.
Columns one_by_one() {
  Columns columns;
  for (uint32_t i = 0; i < kCount; ++i) {
    const volatile uint32_t at = i;
    columns.values[i] = value_at(at);
    columns.counts[i] = count_at(at, columns.counts[i]);
  }
  return columns;
}

// AVX-512 where the CPU has it, else whatever vectors the build is for.
TEST(WideVectors, GiveTheSameBitsAsOneElementAtATime) {
  Columns wide;
  on_wide_vectors([values = wide.values.data(), counts = wide.counts.data()] {
#pragma omp simd
    for (uint32_t i = 0; i < kCount; ++i) {
      values[i] = value_at(i);
      counts[i] = count_at(i, counts[i]);
    }
  });
  const Columns expected = one_by_one();
  EXPECT_EQ(wide.values, expected.values);
  EXPECT_EQ(wide.counts, expected.counts);
}

TEST(WideVectors, HandOnWhatTheWorkReturns) {
  EXPECT_EQ(on_wide_vectors([] { return 42; }), 42);
}

}  // namespace
}  // namespace subfleet
