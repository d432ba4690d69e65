#include "wire/codecs.h"

#include <array>

#include "subfleet/error.h"

namespace subfleet {
namespace {

const auto& codecs() {
  static const std::array table{&f32_codec(),  &f16_codec(),  &int8_codec(), &rot_codec(1),
                                &rot_codec(2), &rot_codec(3), &rot_codec(4), &rot_codec(5),
                                &rot_codec(6), &rot_codec(7), &rot_codec(8)};
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

}  // namespace subfleet
