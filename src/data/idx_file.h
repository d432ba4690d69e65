#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

namespace subfleet {

// What an IDX file may hold here: its type byte.
enum class IdxType : uint8_t { kUbyte = 0x08, kInt = 0x0C };

// The content of an IDX file (big-endian; http://yann.lecun.com/exdb/mnist describes the format).
struct IdxArray {
  std::vector<uint32_t> sizes;  // one per dimension
  std::vector<uint8_t> bytes;   // the values, as in the file
};

// Reads a plain or gzipped IDX file. Throws Error unless it is of that type and number of dimensions, none of
// them absurd, and holds exactly as many values as it says. Memory follows what is in the file, not what its
// header claims: a header that claims more than a file of its size can hold, or much more than pictures pack
// to, is refused at once.
IdxArray read_idx(const std::filesystem::path& path, IdxType type, size_t dimensions);

// The same from a stream of `size` bytes that can be searched; `name` is for the errors.
IdxArray read_idx(std::istream& in, uint64_t size, const std::string& name, IdxType type, size_t dimensions);

}  // namespace subfleet
