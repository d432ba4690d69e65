#pragma once

#include <fmt/format.h>

#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

#include "subfleet/error.h"
#include "wire/scale.h"

// Shared by codecs that decode messages.
namespace subfleet {

static_assert(std::endian::native == std::endian::little, "numbers travel little-endian");

inline void check_length(std::string_view codec, std::span<const std::byte> message, size_t values,
                         size_t bytes) {
  if (message.size() == bytes) return;
  throw bad_request(std::string(codec),
                    fmt::format("{} bytes for {} values; they take {}", message.size(), values, bytes));
}

// Reads a scale; throws Error if it is invalid.
inline float read_scale(std::string_view codec, const std::byte* from, size_t block) {
  float scale = 0;
  std::memcpy(&scale, from, sizeof scale);
  if (is_scale(scale)) return scale;
  throw bad_request(std::string(codec), fmt::format("block {} has the scale {:g}; it must be from 0 to {:g}",
                                                    block, scale, kLargestScale));
}

}  // namespace subfleet
