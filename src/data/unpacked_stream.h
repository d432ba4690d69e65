#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace subfleet {

// What a stream holds, unpacked where it is gzipped (by its first two bytes). Throws Error, which names
// `name`, where it cannot be unpacked.
class UnpackedStream {
 public:
  // What may come out of a packed file of `size` bytes: real pictures pack to a twentieth or so, so what
  // packs to less than a hundredth would only fill the memory. Small files may hold anything.
  static constexpr uint64_t most_unpacked(uint64_t size) {
    return std::max<uint64_t>(uint64_t{1} << 26, 100 * size);
  }

  UnpackedStream(std::istream& in, std::string name);
  ~UnpackedStream();
  UnpackedStream(const UnpackedStream&) = delete;
  UnpackedStream& operator=(const UnpackedStream&) = delete;

  bool packed() const { return packed_; }

  // Fills the room as far as there are bytes; returns how many.
  size_t read(std::span<uint8_t> room);

 private:
  size_t read_raw(std::span<uint8_t> room);
  size_t unpack(std::span<uint8_t> room);

  std::istream& in_;
  std::string name_;
  bool packed_ = false;
  bool in_member_ = false;  // a gzip file is one or more of them
  z_stream state_{};
  std::vector<uint8_t> input_;
};

}  // namespace subfleet
