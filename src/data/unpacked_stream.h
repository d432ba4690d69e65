#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace subfleet {

// The content of a stream, unpacked if it is gzipped (told by its first two bytes). Throws Error, which
// begins with `name`, if it cannot be unpacked.
class UnpackedStream {
 public:
  // The most that may come out of a packed file of `size` bytes. Real pictures compress to a twentieth or so;
  // what compresses to less than a hundredth would only fill the memory. Small files may hold anything.
  static constexpr uint64_t most_unpacked(uint64_t size) {
    return std::max<uint64_t>(uint64_t{1} << 26, 100 * size);
  }

  UnpackedStream(std::istream& in, std::string name);
  ~UnpackedStream();
  UnpackedStream(const UnpackedStream&) = delete;
  UnpackedStream& operator=(const UnpackedStream&) = delete;

  bool packed() const { return packed_; }

  // Fills `room` with what is left, at most; returns how many bytes it wrote.
  size_t read(std::span<uint8_t> room);

 private:
  size_t read_raw(std::span<uint8_t> room);
  size_t unpack(std::span<uint8_t> room);

  std::istream& in_;
  std::string name_;
  bool packed_ = false;
  bool in_member_ = false;  // a gzip file has one or more members
  z_stream state_{};
  std::vector<uint8_t> input_;
};

}  // namespace subfleet
