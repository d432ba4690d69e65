#include "wire/codecs.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
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
    for (const size_t count : {0, 1, 3, 8, 9, 1000, 1023, 1024, 1025, 4097}) {
      std::vector<float> values = some_values(count);
      const std::vector<float> expected = arrived(codec, values);
      codec.transmit(values, kKey);
      EXPECT_EQ(values, expected) << name << ", " << count << " values";
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
    std::vector<float> got(10), fewer(8);  // 9 and 10 values take the same in a padded block
    EXPECT_THROW(codec.decode(std::span(message).first(message.size() - 1), kKey, got), Error) << name;
    message.push_back(std::byte{0});
    EXPECT_THROW(codec.decode(message, kKey, got), Error) << name;
    message.pop_back();
    EXPECT_THROW(codec.decode(message, kKey, fewer), Error) << name;
  }
}

TEST(Codecs, ZerosArriveAsZeros) {
  for (const std::string& name : codec_names()) {
    std::vector<float> zeros(1030, 0.0f);
    zeros[3] = -0.0f;
    EXPECT_EQ(arrived(find_codec(name), zeros), zeros) << name;
  }
}

TEST(Codecs, TheKeyAloneChoosesTheBits) {
  const std::vector<float> values = some_values(3000);
  std::vector<std::byte> first, again, other;
  for (const std::string& name : codec_names()) {
    const Codec& codec = find_codec(name);
    codec.encode(values, kKey, first);
    codec.encode(values, kKey, again);
    EXPECT_EQ(first, again) << name;
    RandomKey another = kKey;
    ++another.client;
    codec.encode(values, another, other);
    EXPECT_EQ(first != other, name.starts_with("rot")) << name;
  }
}

// Diverged clients send such values; nobody may add them up.
TEST(Codecs, WhatIsNotFiniteNeverArrivesAsANumber) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const std::string& name : codec_names()) {
    const Codec& codec = find_codec(name);
    for (const float bad : {kInfinity, -kInfinity, std::nanf("")}) {
      for (const size_t where : {size_t{5}, size_t{1026}}) {  // in a whole block, and in the last one
        std::vector<float> values = some_values(1030);
        values[where] = bad;
        std::vector<std::byte> message;
        codec.encode(values, kKey, message);
        codec.transmit(values, kKey);
        EXPECT_FALSE(std::isfinite(values[where])) << name;
        std::vector<float> got(values.size());
        if (name.starts_with("f")) {
          codec.decode(message, kKey, got);
          EXPECT_FALSE(std::isfinite(got[where])) << name;
        } else {
          EXPECT_THROW(codec.decode(message, kKey, got), Error) << name;
        }
      }
    }
  }
}

TEST(Codecs, AScaleThatIsNoneIsAnErrorThatNamesItsBlock) {
  for (const std::string& name : codec_names()) {
    if (name.starts_with("f")) continue;  // they have none
    const Codec& codec = find_codec(name);
    std::vector<std::byte> message;
    codec.encode(some_values(1030), kKey, message);
    std::vector<float> got(1030);
    const size_t second = codec.encoded_size(1024);
    for (const float bad : {std::nanf(""), -1.0f, std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity(), 1e38f}) {
      std::memcpy(message.data() + second, &bad, sizeof bad);
      try {
        codec.decode(message, kKey, got);
        ADD_FAILURE() << name << " takes the scale " << bad;
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("block 1"), std::string::npos) << error.what();
      }
    }
  }
}

// Values of every size, and mostly tiny ones: whatever is finite arrives as something finite.
TEST(Codecs, NoFiniteValueIsTooSmall) {
  for (const std::string& name : codec_names()) {
    for (const float size : {1e-45f, 1e-38f, 1e-30f, 1e-20f, 1e10f}) {
      std::vector<float> values = some_values(1030);
      for (float& value : values) value *= size;
      for (const float value : arrived(find_codec(name), values)) ASSERT_TRUE(std::isfinite(value)) << name;
    }
  }
}

TEST(Codecs, AnUnknownNameIsAnError) { EXPECT_THROW(find_codec("f33"), Error); }

}  // namespace
}  // namespace subfleet
