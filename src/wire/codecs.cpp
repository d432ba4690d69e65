#include "wire/codecs.h"

#include <array>

#include "subfleet/error.h"

namespace subfleet {
namespace {

const std::array<const Codec*, 1>& codecs() {
  static const std::array<const Codec*, 1> table{&f32_codec()};
  return table;
}

}  // namespace

const Codec& find_codec(std::string_view name) {
  for (const Codec* codec : codecs()) {
    if (codec->name() == name) return *codec;
  }
  throw unknown_name("codec", name, codec_names());
}

std::vector<std::string> codec_names() {
  std::vector<std::string> names;
  for (const Codec* codec : codecs()) names.emplace_back(codec->name());
  return names;
}

size_t transmit(const Codec& codec, std::span<float> values, const RandomKey& key,
                std::vector<std::byte>& message) {
  if (codec.lossless()) return codec.encoded_size(values.size());
  codec.encode(values, key, message);
  codec.decode(message, key, values);
  return message.size();
}

}  // namespace subfleet
