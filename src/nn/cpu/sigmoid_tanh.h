#pragma once

#include <bit>
#include <cstdint>

// Sigmoid and tanh for loops over many values. They have no branches or calls, so compilers can vectorise
// them, and give the same bits at any vector width. Errors are below 2e-7; NaN stays NaN.
namespace subfleet::cpu {

// e^x for x in [-87, 87]; x outside is clamped to that.
inline float exp_clamped(float x) {
  x = x < -87.0f ? -87.0f : x;
  x = x > 87.0f ? 87.0f : x;
  constexpr float kRounder = 0x1.8p23f;  // adding it rounds to a whole number, found in the low bits
  const float shifted = x * 1.44269504f + kRounder;
  const float whole = shifted - kRounder;
  const float rest = x - whole * 0.693359375f - whole * -2.12194440e-4f;  // ln 2 in two parts
  float series = 1.0f / 5040;
  series = series * rest + 1.0f / 720;
  series = series * rest + 1.0f / 120;
  series = series * rest + 1.0f / 24;
  series = series * rest + 1.0f / 6;
  series = series * rest + 0.5f;
  series = series * rest + 1.0f;
  series = series * rest + 1.0f;
  return series * std::bit_cast<float>((std::bit_cast<uint32_t>(shifted) + 127) << 23);
}

inline float fast_sigmoid(float x) { return 1.0f / (1.0f + exp_clamped(-x)); }
inline float fast_tanh(float x) { return 1.0f - 2.0f / (exp_clamped(2.0f * x) + 1.0f); }

}  // namespace subfleet::cpu
