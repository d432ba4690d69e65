#include <algorithm>
#include <bit>
#include <cmath>

#include "fuzz.h"
#include "subfleet/codec.h"

// The input's first byte chooses a codec, the next two how many values are expected; the rest is the message.
namespace subfleet::fuzz {
namespace {

constexpr size_t kHead = 3;
constexpr RandomKey kKey{.seed = 1, .round = 2, .client = 3, .purpose = Purpose::kWireUp};

std::string input_for(size_t index, size_t count, float size) {
  Random random({.seed = index});
  std::vector<float> values(count);
  for (float& value : values) value = size * static_cast<float>(random.normal());
  std::vector<std::byte> message;
  find_codec(codec_names()[index]).encode(values, kKey, message);
  const std::string head{static_cast<char>(index), static_cast<char>(count & 0xFF),
                         static_cast<char>(count >> 8)};
  return head + std::string(reinterpret_cast<const char*>(message.data()), message.size());
}

}  // namespace

std::vector<std::string> seeds() {
  std::vector<std::string> seeds;
  for (size_t index = 0; index < codec_names().size(); ++index) {
    for (const size_t count : {0, 1, 9, 1100}) seeds.push_back(input_for(index, count, 0.1f));
  }
  return seeds;
}

void try_input(std::string_view input) {
  static const std::vector<std::string> names = codec_names();
  if (input.size() < kHead) return;
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(input[i]); };
  const Codec& codec = find_codec(names[byte(0) % names.size()]);
  const size_t count = (byte(1) | byte(2) << 8) % 3000;
  const std::span<const std::byte> message = std::as_bytes(std::span(input.substr(kHead)));

  // The same bytes as values: whatever they are, they can be sent, and what is sent in place is what arrives.
  std::vector<float> values(message.size() / sizeof(float));
  std::ranges::copy(message.first(values.size() * sizeof(float)),
                    std::as_writable_bytes(std::span(values)).begin());
  std::vector<std::byte> encoded;
  codec.encode(values, kKey, encoded);
  expect(encoded.size() == codec.encoded_size(values.size()), "the size is known beforehand");
  std::vector<float> arrived(values.size());
  codec.transmit(values, kKey);
  try {
    codec.decode(encoded, kKey, arrived);
    const auto same = [](float a, float b) {
      return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) || (std::isnan(a) && std::isnan(b));
    };
    expect(std::ranges::equal(values, arrived, same), "transmitted is encoded and decoded");
  } catch (const Error&) {
    expect(!std::ranges::all_of(values, [](float value) { return std::isfinite(value); }),
           "only what is not finite is refused");
  }

  std::vector<float> decoded(count);
  codec.decode(message, kKey, decoded);
  if (codec.name().starts_with("f")) return;  // f32 and f16 carry what is not finite
  expect(std::ranges::all_of(decoded, [](float value) { return std::isfinite(value); }),
         "what decodes is finite");
}

}  // namespace subfleet::fuzz
