#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "subfleet/random.h"

namespace subfleet {

// How a list of numbers travels: weights on their way to a client, updates on their way back. What arrives
// depends on the numbers and the key alone, so simulation and network give the same bits, whatever the vector
// unit and the number of threads. A new codec is one file in src/wire and one line in codecs.cpp.
class Codec {
 public:
  virtual ~Codec() = default;
  virtual std::string_view name() const = 0;

  // What arrives is what was sent, bit for bit.
  virtual bool lossless() const = 0;

  // The size of encode(...) for that many values, whatever they are.
  virtual size_t encoded_size(size_t values) const = 0;

  // Replaces `message`; its memory is used again. Both ends derive the key from (seed, draw, client).
  virtual void encode(std::span<const float> values, const RandomKey& key,
                      std::vector<std::byte>& message) const = 0;
  // As many values as `values` has room for; throws Error unless `message` holds exactly those, or if a
  // block's scale is invalid.
  virtual void decode(std::span<const std::byte> message, const RandomKey& key,
                      std::span<float> values) const = 0;

  // Replaces the values by what would arrive: the same bits as encode and decode, without the message. A
  // block that decode would refuse, because a value in it is not finite, becomes NaN.
  virtual void transmit(std::span<float> values, const RandomKey& key) const = 0;
};

// The codec of that name; throws Error naming the nearest.
const Codec& find_codec(std::string_view name);
std::vector<std::string> codec_names();

struct WireOptions {
  std::string down = "f32";  // how weights travel to a client
  std::string up = "f32";    // how its update travels back
  bool operator==(const WireOptions&) const = default;
};

}  // namespace subfleet
