#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "subfleet/error.h"

namespace subfleet {

inline constexpr const char* kMetadataKey = "__metadata__";

// The JSON at the front of a safetensors file.
struct SafetensorsHeader {
  struct Entry {
    std::string name, dtype;
    std::vector<size_t> shape;
    size_t begin = 0, end = 0;  // bytes of the data
  };
  std::map<std::string, std::string> metadata;
  std::vector<Entry> entries;  // in the order of the data
};

// Throws Error, which begins with the file's name, unless the header is valid: no key twice, sizes that are
// whole numbers and fit their type, and tensors that lie end to end in exactly `data_size` bytes.
SafetensorsHeader parse_safetensors_header(std::string_view json, size_t data_size, const std::string& file);

Error not_safetensors(const std::string& file, std::string_view why);

}  // namespace subfleet
