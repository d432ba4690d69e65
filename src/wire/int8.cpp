#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/wide_vectors.h"
#include "wire/blocks.h"
#include "wire/codecs.h"
#include "wire/int8_rule.h"

namespace subfleet {
namespace {

// The largest magnitude; NaN if a value is NaN. Each lane has its own maximum, so that compilers can
// vectorise.
float largest_of(const float* values, size_t count) {
  constexpr size_t kLanes = 64;
  std::array<uint32_t, kLanes> lanes{};
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
#pragma omp simd
    for (size_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] = std::max(lanes[lane], magnitude_bits(values[i + lane]));
  }
  for (; i < count; ++i) lanes[0] = std::max(lanes[0], magnitude_bits(values[i]));
  return std::bit_cast<float>(*std::ranges::max_element(lanes));
}

using Numbers = std::array<int8_t, kInt8Block>;

float encode_block(const float* values, size_t count, int8_t* numbers) {
  const float largest = largest_of(values, count), per_value = int8_per_value(largest);
#pragma omp simd
  for (size_t i = 0; i < count; ++i) numbers[i] = static_cast<int8_t>(to_int8(values[i], per_value));
  return int8_scale(largest);
}

void decode_block(const int8_t* numbers, size_t count, float scale, float* values) {
#pragma omp simd
  for (size_t i = 0; i < count; ++i) values[i] = from_int8(numbers[i], scale);
}

void transmit_block(float* values, size_t count) {
  const float largest = largest_of(values, count);
  const float per_value = int8_per_value(largest), scale = int8_scale(largest);
#pragma omp simd
  for (size_t i = 0; i < count; ++i) values[i] = from_int8(to_int8(values[i], per_value), scale);
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
      const size_t count = std::min(kInt8Block, values.size() - first);
      Numbers numbers;
      const float scale =
          on_wide_vectors([&] { return encode_block(values.data() + first, count, numbers.data()); });
      std::memcpy(to, &scale, sizeof scale);
      std::memcpy(to + sizeof scale, numbers.data(), count);
      to += sizeof scale + count;
    }
  }

  void decode(std::span<const std::byte> message, const RandomKey&, std::span<float> values) const override {
    check_length(name(), message, values.size(), encoded_size(values.size()));
    const std::byte* from = message.data();
    for (size_t first = 0; first < values.size(); first += kInt8Block) {
      const size_t count = std::min(kInt8Block, values.size() - first);
      const float scale = read_scale(name(), from, first / kInt8Block);
      Numbers numbers;
      std::memcpy(numbers.data(), from + sizeof scale, count);
      on_wide_vectors([&] { decode_block(numbers.data(), count, scale, values.data() + first); });
      from += sizeof scale + count;
    }
  }

  void transmit(std::span<float> values, const RandomKey&) const override {
    for (size_t first = 0; first < values.size(); first += kInt8Block) {
      const size_t count = std::min(kInt8Block, values.size() - first);
      on_wide_vectors([&] { transmit_block(values.data() + first, count); });
    }
  }
};

}  // namespace

const Codec& int8_codec() {
  static const Int8 codec;
  return codec;
}

}  // namespace subfleet
