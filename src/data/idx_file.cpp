#include "data/idx_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "data/unpacked_stream.h"
#include "subfleet/base/path_name.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 32;
constexpr uint32_t kLargestSide = 4096;  // of every dimension but the first
constexpr size_t kChunk = size_t{1} << 16;

uint32_t big_endian(const uint8_t* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | uint32_t{bytes[3]};
}

std::vector<uint32_t> read_header(UnpackedStream& file, const std::string& name, IdxType type,
                                  size_t dimensions) {
  std::vector<uint8_t> header(4 + 4 * dimensions);
  const size_t got = file.read(header);
  const uint32_t expected = uint32_t{static_cast<uint8_t>(type)} << 8 | static_cast<uint32_t>(dimensions);
  if (got >= 4 && big_endian(header.data()) != expected) {
    throw bad_request(name, fmt::format("starts with {:#010x}; an IDX file of this kind starts with {:#010x}",
                                        big_endian(header.data()), expected));
  }
  if (got < header.size()) {
    throw bad_request(
        name, fmt::format("is truncated: {} bytes, where the header alone has {}", got, header.size()));
  }
  std::vector<uint32_t> sizes;
  for (size_t i = 0; i < dimensions; ++i) sizes.push_back(big_endian(header.data() + 4 + 4 * i));
  return sizes;
}

uint64_t content_size(const std::string& name, const std::vector<uint32_t>& sizes, uint64_t value_size) {
  uint64_t total = sizes[0] * value_size;
  bool absurd = total > kMostBytes;
  for (size_t i = 1; i < sizes.size() && !absurd; ++i) {
    if (sizes[i] == 0 || sizes[i] > kLargestSide) {
      throw bad_request(name, fmt::format("claims a size of {}; every side must be 1 to {}",
                                          fmt::join(sizes, " x "), kLargestSide));
    }
    total *= sizes[i];
    absurd = total > kMostBytes;
  }
  if (absurd) {
    throw bad_request(name, fmt::format("claims a size of {}, more than the {} bytes a file may hold",
                                        fmt::join(sizes, " x "), kMostBytes));
  }
  return total;
}

Error truncated(const std::string& name, const std::string& found, const std::vector<uint32_t>& sizes,
                uint64_t expected) {
  return bad_request(name, fmt::format("is truncated: {}, where its header says {} = {}", found,
                                       fmt::join(sizes, " x "), expected));
}

}  // namespace

IdxArray read_idx(std::istream& in, uint64_t size, const std::string& name, IdxType type, size_t dimensions) {
  UnpackedStream file(in, name);
  IdxArray array;
  array.sizes = read_header(file, name, type, dimensions);
  const uint64_t expected = content_size(name, array.sizes, type == IdxType::kInt ? 4 : 1);
  constexpr uint64_t kMostPacked = 1032;  // bytes that deflate packs into one
  if (expected / (file.packed() ? kMostPacked : 1) > size) {
    throw truncated(name, fmt::format("a file of {} bytes", size), array.sizes, expected);
  }
  if (file.packed() && expected > UnpackedStream::most_unpacked(size)) {
    throw bad_request(
        name,
        fmt::format("is a packed file of {} bytes that claims {} = {}; at most {} are unpacked, and "
                    "gunzip makes a file of it that is read",
                    size, fmt::join(array.sizes, " x "), expected, UnpackedStream::most_unpacked(size)));
  }
  array.bytes.reserve(expected);
  std::vector<uint8_t> chunk(kChunk);
  while (const size_t got = file.read(chunk)) {
    if (got > expected - array.bytes.size()) {
      throw bad_request(name, fmt::format("has bytes after its end: its header says {} = {} bytes of values",
                                          fmt::join(array.sizes, " x "), expected));
    }
    array.bytes.insert(array.bytes.end(), chunk.begin(), chunk.begin() + static_cast<ptrdiff_t>(got));
  }
  if (array.bytes.size() < expected) {
    throw truncated(name, fmt::format("{} bytes of values", array.bytes.size()), array.sizes, expected);
  }
  return array;
}

IdxArray read_idx(const std::filesystem::path& path, IdxType type, size_t dimensions) {
  const std::string name = path_name(path);
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code))
    throw bad_request(name, "is not a file that can be read");
  const uint64_t size = std::filesystem::file_size(path, code);
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (code || !in) throw bad_request(name, fmt::format("cannot be read ({})", std::strerror(errno)));
  return read_idx(in, size, name, type, dimensions);
}

}  // namespace subfleet
