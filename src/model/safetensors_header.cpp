#include "model/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

namespace subfleet {
namespace {

using Json = nlohmann::json;
using Entry = SafetensorsHeader::Entry;

constexpr size_t kMostDimensions = 32;

struct Malformed {
  std::string why;
};

struct TypeSize {
  std::string_view dtype;
  size_t bytes;
};
constexpr std::array<TypeSize, 15> kTypes{{{"BOOL", 1},
                                           {"U8", 1},
                                           {"I8", 1},
                                           {"F8_E4M3", 1},
                                           {"F8_E5M2", 1},
                                           {"U16", 2},
                                           {"I16", 2},
                                           {"F16", 2},
                                           {"BF16", 2},
                                           {"U32", 4},
                                           {"I32", 4},
                                           {"F32", 4},
                                           {"U64", 8},
                                           {"I64", 8},
                                           {"F64", 8}}};

// Follows the parser through {"NAME": {"dtype": TEXT, "shape": [N...], "data_offsets": [N, N]}, ...,
// "__metadata__": {TEXT: TEXT, ...}}. Nothing is kept but what the format names.
class HeaderReader final : public nlohmann::json_sax<Json> {
 public:
  SafetensorsHeader header;

  bool start_object(size_t) override {
    if (place_ == Place::kOutside) {
      place_ = Place::kHeader;
    } else if (place_ == Place::kHeader) {
      place_ = name_ == kMetadataKey ? Place::kMetadata : Place::kEntry;
      fields_.clear();
      if (place_ == Place::kEntry) header.entries.push_back({.name = name_, .dtype = {}, .shape = {}});
    } else {
      throw unexpected();
    }
    return true;
  }

  bool key(std::string& key) override {
    if (place_ == Place::kHeader) {
      name_ = key;
      if (!names_.insert(key).second) throw Malformed{fmt::format("'{}' comes twice", key)};
    } else {
      field_ = key;
      if (!fields_.insert(key).second) throw Malformed{fmt::format("'{}' of '{}' comes twice", key, name_)};
    }
    return true;
  }

  bool end_object() override {
    if (place_ == Place::kEntry) finish_entry();
    place_ = place_ == Place::kHeader ? Place::kOutside : Place::kHeader;
    return true;
  }

  bool start_array(size_t) override {
    if (place_ != Place::kEntry || (field_ != "shape" && field_ != "data_offsets")) throw unexpected();
    place_ = Place::kList;
    return true;
  }

  bool end_array() override {
    place_ = Place::kEntry;
    return true;
  }

  bool number_unsigned(uint64_t value) override {
    if (place_ != Place::kList) throw unexpected();
    std::vector<size_t>& list = field_ == "shape" ? header.entries.back().shape : offsets_;
    if (list.size() == kMostDimensions) throw unexpected();
    list.push_back(value);
    return true;
  }

  bool string(std::string& value) override {
    if (place_ == Place::kMetadata) {
      header.metadata.emplace(field_, value);
    } else if (place_ == Place::kEntry && field_ == "dtype") {
      header.entries.back().dtype = value;
    } else {
      throw unexpected();
    }
    return true;
  }

  bool null() override { throw unexpected(); }
  bool boolean(bool) override { throw unexpected(); }
  bool number_integer(int64_t) override { throw unexpected(); }  // negative
  bool number_float(double, const std::string&) override { throw unexpected(); }
  bool binary(Json::binary_t&) override { throw unexpected(); }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception&) override {
    throw Malformed{fmt::format("its header is not JSON at byte {}", position)};
  }

 private:
  enum class Place { kOutside, kHeader, kMetadata, kEntry, kList };

  Malformed unexpected() const {
    return {name_.empty() ? "its header is not a JSON object"
                          : fmt::format("'{}' is not what the format asks for", name_)};
  }

  void finish_entry() {
    if (fields_ != std::set<std::string>{"data_offsets", "dtype", "shape"} || offsets_.size() != 2) {
      throw unexpected();
    }
    std::tie(header.entries.back().begin, header.entries.back().end) = std::pair(offsets_[0], offsets_[1]);
    offsets_.clear();
  }

  Place place_ = Place::kOutside;
  std::string name_, field_;              // the keys that lead to the value at hand
  std::set<std::string> names_, fields_;  // seen so far
  std::vector<size_t> offsets_;
};

// Of a type that is not known, the offsets alone are believed.
void check_size(const Entry& entry) {
  const auto type = std::ranges::find(kTypes, entry.dtype, &TypeSize::dtype);
  if (type == kTypes.end()) return;
  size_t bytes = type->bytes;
  for (const size_t extent : entry.shape) {
    if (extent != 0 && bytes > std::numeric_limits<size_t>::max() / extent) {
      throw Malformed{fmt::format("tensor '{}': the shape is too large", entry.name)};
    }
    bytes *= extent;
  }
  if (entry.end - entry.begin != bytes) {
    throw Malformed{fmt::format("tensor '{}': its offsets hold {} bytes, its shape {}", entry.name,
                                entry.end - entry.begin, bytes)};
  }
}

void check_places(const std::vector<Entry>& entries, size_t data_size) {
  size_t end = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != end || entry.end < entry.begin || entry.end > data_size) {
      throw Malformed{
          fmt::format("tensor '{}': its bytes {} to {} do not follow the tensor before it, or leave the file",
                      entry.name, entry.begin, entry.end)};
    }
    end = entry.end;
    check_size(entry);
  }
  if (end != data_size) throw Malformed{fmt::format("{} bytes behind the last tensor", data_size - end)};
}

}  // namespace

Error not_safetensors(const std::string& file, std::string_view why) {
  return bad_request(file, fmt::format("not a readable safetensors file: {}", why));
}

SafetensorsHeader parse_safetensors_header(std::string_view json, size_t data_size, const std::string& file) {
  HeaderReader reader;
  try {
    Json::sax_parse(json, &reader);
    std::ranges::sort(reader.header.entries, {}, [](const Entry& e) { return std::pair(e.begin, e.end); });
    check_places(reader.header.entries, data_size);
  } catch (const Malformed& malformed) {
    throw not_safetensors(file, malformed.why);
  }
  return std::move(reader.header);
}

}  // namespace subfleet
