#include "base/wide_vectors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace subfleet {
namespace {

constexpr size_t kCount = 1003;  // no multiple of any width

TEST(WideVectors, GiveTheSameBitsAsNarrowOnes) {
  const auto work = [](std::vector<float>& values, std::vector<uint64_t>& counts) {
#pragma omp simd
    for (size_t i = 0; i < kCount; ++i) {
      const float x = 0.1f * static_cast<float>(i) - 40.0f;
      values[i] = x * x / (1.0f + std::abs(x)) + 0.3f * x;
      counts[i] = counts[i] * 0x9E3779B97F4A7C15u + static_cast<uint64_t>(i) * 7;
    }
  };
  std::vector<float> wide(kCount), narrow(kCount);
  std::vector<uint64_t> wide_counts(kCount, 3), narrow_counts(kCount, 3);
  on_wide_vectors([&] { work(wide, wide_counts); });
  work(narrow, narrow_counts);
  EXPECT_EQ(wide, narrow);
  EXPECT_EQ(wide_counts, narrow_counts);
}

TEST(WideVectors, HandOnWhatTheWorkReturns) {
  EXPECT_EQ(on_wide_vectors([] { return 42; }), 42);
}

}  // namespace
}  // namespace subfleet
