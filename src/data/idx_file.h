#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

namespace subfleet {

// The value types that are read here, by the type byte of an IDX file.
enum class IdxType : uint8_t { kUbyte = 0x08, kInt = 0x0C };

// The content of an IDX file (big-endian; http://yann.lecun.com/exdb/mnist describes the format).
struct IdxArray {
  std::vector<uint32_t> sizes;  // one per dimension
  std::vector<uint8_t> bytes;   // the values, as in the file
};

// Reads a plain or gzipped IDX file. Throws Error unless it has that type and number of dimensions, sane
// sizes, and exactly as many values as it says. Memory follows the file's content, not its header's claims: a
// header that claims more than the file can hold, or much more than pictures compress to, is refused at once.
IdxArray read_idx(const std::filesystem::path& path, IdxType type, size_t dimensions);

// The same from a seekable stream of `size` bytes; `name` is for errors.
IdxArray read_idx(std::istream& in, uint64_t size, const std::string& name, IdxType type, size_t dimensions);

}  // namespace subfleet
