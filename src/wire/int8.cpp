#include <algorithm>
#include <bit>
#include <cstring>

#include "base/wide_vectors.h"
#include "wire/blocks.h"
#include "wire/codecs.h"
#include "wire/int8_rule.h"

namespace subfleet {
namespace {

// The largest magnitude; NaN where there is one.
float largest_of(std::span<const float> values) {
  return on_wide_vectors([from = values.data(), count = values.size()] {
    uint32_t largest = 0;
#pragma omp simd reduction(max : largest)
    for (size_t i = 0; i < count; ++i) largest = std::max(largest, magnitude_bits(from[i]));
    return std::bit_cast<float>(largest);
  });
}

class Int8 final : public Codec {
 public:
  std::string_view name() const override { return "int8"; }
  bool lossless() const override { return false; }
  size_t encoded_size(size_t values) const override {
    return values + (values + kInt8Block - 1) / kInt8Block * sizeof(float);
  }

  void encode(std::span<const float> values, const RandomKey&,
              std::vector<std::byte>& message) const override {
    message.resize(encoded_size(values.size()));
    std::byte* to = message.data();
    for (size_t first = 0; first < values.size(); first += kInt8Block) {
      const std::span<const float> block = values.subspan(first, std::min(kInt8Block, values.size() - first));
      const float largest = largest_of(block), scale = int8_scale(largest);
      std::memcpy(to, &scale, sizeof scale);
      to += sizeof scale;
      on_wide_vectors([from = block.data(), to, count = block.size(), per_value = int8_per_value(largest)] {
#pragma omp simd
        for (size_t i = 0; i < count; ++i) to[i] = static_cast<std::byte>(to_int8(from[i], per_value));
      });
      to += block.size();
    }
  }

  void decode(std::span<const std::byte> message, const RandomKey&, std::span<float> values) const override {
    check_length(name(), message, values.size(), encoded_size(values.size()));
    const std::byte* from = message.data();
    for (size_t first = 0; first < values.size(); first += kInt8Block) {
      const std::span<float> block = values.subspan(first, std::min(kInt8Block, values.size() - first));
      const float scale = read_scale(name(), from, first / kInt8Block);
      from += sizeof scale;
      on_wide_vectors([from, to = block.data(), count = block.size(), scale] {
#pragma omp simd
        for (size_t i = 0; i < count; ++i) to[i] = from_int8(static_cast<int8_t>(from[i]), scale);
      });
      from += block.size();
    }
  }

  void transmit(std::span<float> values, const RandomKey&) const override {
    for (size_t first = 0; first < values.size(); first += kInt8Block) {
      const std::span<float> block = values.subspan(first, std::min(kInt8Block, values.size() - first));
      const float largest = largest_of(block);
      on_wide_vectors([at = block.data(), count = block.size(), scale = int8_scale(largest),
                       per_value = int8_per_value(largest)] {
#pragma omp simd
        for (size_t i = 0; i < count; ++i) at[i] = from_int8(to_int8(at[i], per_value), scale);
      });
    }
  }
};

}  // namespace

const Codec& int8_codec() {
  static const Int8 codec;
  return codec;
}

}  // namespace subfleet
