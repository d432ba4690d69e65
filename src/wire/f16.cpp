#include <cstring>

#include "base/wide_vectors.h"
#include "wire/blocks.h"
#include "wire/codecs.h"
#include "wire/f16_rule.h"

namespace subfleet {
namespace {

class F16 final : public Codec {
 public:
  std::string_view name() const override { return "f16"; }
  bool lossless() const override { return false; }
  size_t encoded_size(size_t values) const override { return values * sizeof(uint16_t); }

  void encode(std::span<const float> values, const RandomKey&,
              std::vector<std::byte>& message) const override {
    message.resize(encoded_size(values.size()));
    on_wide_vectors([from = values.data(), to = message.data(), count = values.size()] {
#pragma omp simd
      for (size_t i = 0; i < count; ++i) {
        const uint16_t half = to_half(from[i]);
        std::memcpy(to + i * sizeof half, &half, sizeof half);
      }
    });
  }

  void decode(std::span<const std::byte> message, const RandomKey&, std::span<float> values) const override {
    check_length(name(), message, values.size(), encoded_size(values.size()));
    on_wide_vectors([from = message.data(), to = values.data(), count = values.size()] {
#pragma omp simd
      for (size_t i = 0; i < count; ++i) {
        uint16_t half = 0;
        std::memcpy(&half, from + i * sizeof half, sizeof half);
        to[i] = from_half(half);
      }
    });
  }

  void transmit(std::span<float> values, const RandomKey&) const override {
    on_wide_vectors([at = values.data(), count = values.size()] {
#pragma omp simd
      for (size_t i = 0; i < count; ++i) at[i] = from_half(to_half(at[i]));
    });
  }
};

}  // namespace

const Codec& f16_codec() {
  static const F16 codec;
  return codec;
}

}  // namespace subfleet
