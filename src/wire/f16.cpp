#include <algorithm>
#include <array>
#include <cstring>

#include "base/wide_vectors.h"
#include "wire/blocks.h"
#include "wire/codecs.h"
#include "wire/f16_rule.h"

namespace subfleet {
namespace {

// Values that are converted at a time, beside a message whose bytes lie anywhere.
constexpr size_t kChunk = 1024;
using Halves = std::array<uint16_t, kChunk>;

void to_halves(const float* values, size_t count, uint16_t* halves) {
#pragma omp simd
  for (size_t i = 0; i < count; ++i) halves[i] = static_cast<uint16_t>(to_half(values[i]));
}

void from_halves(const uint16_t* halves, size_t count, float* values) {
#pragma omp simd
  for (size_t i = 0; i < count; ++i) values[i] = from_half(halves[i]);
}

void round_to_halves(float* values, size_t count) {
#pragma omp simd
  for (size_t i = 0; i < count; ++i) values[i] = from_half(to_half(values[i]));
}

class F16 final : public Codec {
 public:
  std::string_view name() const override { return "f16"; }
  bool lossless() const override { return false; }
  size_t encoded_size(size_t values) const override { return values * sizeof(uint16_t); }

  void encode(std::span<const float> values, const RandomKey&,
              std::vector<std::byte>& message) const override {
    message.resize(encoded_size(values.size()));
    for (size_t first = 0; first < values.size(); first += kChunk) {
      Halves halves;
      const size_t count = std::min(kChunk, values.size() - first);
      on_wide_vectors([&] { to_halves(values.data() + first, count, halves.data()); });
      std::memcpy(message.data() + encoded_size(first), halves.data(), encoded_size(count));
    }
  }

  void decode(std::span<const std::byte> message, const RandomKey&, std::span<float> values) const override {
    check_length(name(), message, values.size(), encoded_size(values.size()));
    for (size_t first = 0; first < values.size(); first += kChunk) {
      Halves halves;
      const size_t count = std::min(kChunk, values.size() - first);
      std::memcpy(halves.data(), message.data() + encoded_size(first), encoded_size(count));
      on_wide_vectors([&] { from_halves(halves.data(), count, values.data() + first); });
    }
  }

  void transmit(std::span<float> values, const RandomKey&) const override {
    on_wide_vectors([&] { round_to_halves(values.data(), values.size()); });
  }
};

}  // namespace

const Codec& f16_codec() {
  static const F16 codec;
  return codec;
}

}  // namespace subfleet
