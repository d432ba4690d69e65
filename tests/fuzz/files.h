#pragma once

#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "fuzz.h"
#include "subfleet/data.h"

// What the harnesses of data files share.
namespace subfleet::fuzz {

inline void write_quickly(const std::filesystem::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

inline std::string big_endian(uint32_t value) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<char>(value >> shift));
  return bytes;
}

inline std::string gzipped(std::string_view plain) {
  z_stream stream{};
  deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 1, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, plain.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// Reads every client of an opened source.
inline void check_federation(const Federation& data) {
  Examples examples;
  for (uint32_t client = 0; client < data.clients(); ++client) {
    must_work([&] { data.read(client, examples); });
    expect(examples.count() == data.samples(client), "a client has as many examples as it says");
    expect(examples.inputs.size() == examples.count() * data.input().size(), "every example is whole");
    for (const int32_t label : examples.labels) {
      expect(label >= 0 && static_cast<uint32_t>(label) < data.classes(), "every label is a class");
    }
  }
}

}  // namespace subfleet::fuzz
