#pragma once

#include <zlib.h>

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
  // Deflate packs at most 1032 bytes into one.
  static constexpr uint64_t kMostPacked = 1032;

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
