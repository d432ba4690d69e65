#include "wire/codecs.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "subfleet/error.h"

namespace subfleet {
namespace {

constexpr RandomKey kKey{.seed = 3, .round = 2, .client = 5, .purpose = Purpose::kWireDown};

std::vector<float> some_values(size_t count) {
  Random random({.seed = 21});
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

std::vector<float> arrived(const Codec& codec, const std::vector<float>& values) {
  std::vector<std::byte> message;
  codec.encode(values, kKey, message);
  EXPECT_EQ(message.size(), codec.encoded_size(values.size())) << codec.name();
  std::vector<float> got(values.size());
  codec.decode(message, kKey, got);
  return got;
}

TEST(Codecs, WhatIsTransmittedInPlaceIsWhatArrivesOverAWire) {
  for (const std::string& name : codec_names()) {
    const Codec& codec = find_codec(name);
    for (const size_t count : {size_t{0}, size_t{1}, size_t{1000}, size_t{4097}}) {
      std::vector<float> values = some_values(count);
      const std::vector<float> expected = arrived(codec, values);
      std::vector<std::byte> message;
      EXPECT_EQ(transmit(codec, values, kKey, message), codec.encoded_size(count)) << name;
      EXPECT_EQ(values, expected) << name;
    }
  }
}

TEST(Codecs, LosslessOnesKeepEveryBit) {
  const std::vector<float> odd{0.0f, -0.0f, std::numeric_limits<float>::denorm_min(),
                               std::numeric_limits<float>::max(), -1.5e-30f};
  for (const std::string& name : codec_names()) {
    const Codec& codec = find_codec(name);
    if (!codec.lossless()) continue;
    const std::vector<float> got = arrived(codec, odd);
    for (size_t i = 0; i < odd.size(); ++i)
      EXPECT_EQ(std::bit_cast<uint32_t>(got[i]), std::bit_cast<uint32_t>(odd[i])) << name;
  }
}

TEST(Codecs, AMessageOfAnotherLengthIsAnError) {
  for (const std::string& name : codec_names()) {
    const Codec& codec = find_codec(name);
    std::vector<std::byte> message;
    codec.encode(some_values(10), kKey, message);
    std::vector<float> got(10), fewer(9);
    EXPECT_THROW(codec.decode(std::span(message).first(message.size() - 1), kKey, got), Error) << name;
    message.push_back(std::byte{0});
    EXPECT_THROW(codec.decode(message, kKey, got), Error) << name;
    message.pop_back();
    EXPECT_THROW(codec.decode(message, kKey, fewer), Error) << name;
  }
}

TEST(Codecs, AnUnknownNameIsAnError) { EXPECT_THROW(find_codec("f33"), Error); }

}  // namespace
}  // namespace subfleet
