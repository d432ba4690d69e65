#include <cstring>

#include "wire/blocks.h"
#include "wire/codecs.h"

namespace subfleet {
namespace {

class F32 final : public Codec {
 public:
  std::string_view name() const override { return "f32"; }
  bool lossless() const override { return true; }
  size_t encoded_size(size_t values) const override { return values * sizeof(float); }

  void encode(std::span<const float> values, const RandomKey&,
              std::vector<std::byte>& message) const override {
    const auto bytes = std::as_bytes(values);
    message.assign(bytes.begin(), bytes.end());
  }

  void decode(std::span<const std::byte> message, const RandomKey&, std::span<float> values) const override {
    check_length(name(), message, values.size(), values.size_bytes());
    if (!message.empty()) std::memcpy(values.data(), message.data(), message.size());
  }

  void transmit(std::span<float>, const RandomKey&) const override {}
};

}  // namespace

const Codec& f32_codec() {
  static const F32 codec;
  return codec;
}

}  // namespace subfleet
