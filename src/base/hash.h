#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace subfleet {

// A hash that tells contents apart, the same on every machine. It does not withstand deliberate collisions.
class Hash {
 public:
  // Order and lengths count: {"ab", "c"} is not {"a", "bc"}.
  Hash& add(std::span<const std::byte> bytes);
  Hash& add(std::string_view text) { return add(std::as_bytes(std::span(text))); }
  // Numbers one after the other, in a vector or an array.
  template <typename Values>
  Hash& add_values(const Values& values) {
    return add(std::as_bytes(std::span(values)));
  }
  Hash& add(uint64_t value);

  uint64_t value() const { return state_; }

 private:
  uint64_t state_ = 0x9E3779B97F4A7C15;
};

}  // namespace subfleet
