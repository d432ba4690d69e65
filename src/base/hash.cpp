#include "base/hash.h"

#include <algorithm>
#include <cstring>

namespace subfleet {

Hash& Hash::add(uint64_t value) {
  // The finaliser of splitmix64 (Steele et al. 2014) over the running state.
  uint64_t mixed = (state_ ^ value) + 0x9E3779B97F4A7C15;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
  state_ = mixed ^ (mixed >> 31);
  return *this;
}

Hash& Hash::add(std::span<const std::byte> bytes) {
  add(uint64_t{bytes.size()});
  while (!bytes.empty()) {
    uint64_t word = 0;
    const size_t count = std::min(bytes.size(), sizeof word);
    std::memcpy(&word, bytes.data(), count);
    add(word);
    bytes = bytes.subspan(count);
  }
  return *this;
}

}  // namespace subfleet
