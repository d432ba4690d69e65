#include "subfleet/random.h"

#include <cmath>
#include <numbers>

namespace subfleet {
namespace {

double to_uniform(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1.0p-53; }

}  // namespace

Random::Random(const RandomKey& key)
    : key_{static_cast<uint32_t>(key.seed), static_cast<uint32_t>(key.seed >> 32)},
      counter_{0, key.round, key.client, static_cast<uint32_t>(key.purpose)} {}

uint32_t Random::next_u32() {
  if (used_ == 4) {
    block_ = philox4x32(counter_, key_);
    ++counter_[0];
    used_ = 0;
  }
  return block_[used_++];
}

uint64_t Random::next_u64() {
  const uint64_t high = next_u32();
  return (high << 32) | next_u32();
}

uint32_t Random::below(uint32_t bound) {
  // Lemire's multiply-shift with rejection.
  uint64_t product = uint64_t{next_u32()} * bound;
  if (static_cast<uint32_t>(product) < bound) {
    const uint32_t threshold = (0u - bound) % bound;
    while (static_cast<uint32_t>(product) < threshold) product = uint64_t{next_u32()} * bound;
  }
  return static_cast<uint32_t>(product >> 32);
}

double Random::uniform() { return to_uniform(next_u64()); }

void Random::fill_uniform(std::span<float> values, double low, double high) {
  size_t i = 0;
  while (i < values.size() && used_ != 4) values[i++] = static_cast<float>(uniform(low, high));
  for (; i + 1 < values.size(); i += 2, ++counter_[0]) {
    const std::array<uint32_t, 4> block = philox4x32(counter_, key_);
    for (size_t j = 0; j < 2; ++j) {
      const double one = to_uniform(uint64_t{block[2 * j]} << 32 | block[2 * j + 1]);
      values[i + j] = static_cast<float>(low + (high - low) * one);
    }
  }
  if (i < values.size()) values[i] = static_cast<float>(uniform(low, high));
}

double Random::normal() {
  // Box-Muller; 1 - uniform() is in (0, 1].
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

}  // namespace subfleet
