#include <array>
#include <sstream>
#include <utility>

#include "data/idx_file.h"
#include "files.h"
#include "fuzz.h"

namespace subfleet::fuzz {
namespace {

constexpr std::array<std::pair<IdxType, size_t>, 3> kKinds{
    {{IdxType::kUbyte, 3}, {IdxType::kUbyte, 1}, {IdxType::kInt, 1}}};

IdxArray read(const std::string& content, IdxType type, size_t dimensions) {
  std::istringstream in(content);
  return read_idx(in, content.size(), "f", type, dimensions);
}

std::string written(const IdxArray& array, IdxType type) {
  std::string text =
      big_endian(uint32_t{static_cast<uint8_t>(type)} << 8 | static_cast<uint32_t>(array.sizes.size()));
  for (const uint32_t size : array.sizes) text += big_endian(size);
  return text + std::string(array.bytes.begin(), array.bytes.end());
}

void check(const std::string& content, IdxType type, size_t dimensions) {
  const IdxArray array = read(content, type, dimensions);
  const std::string plain = written(array, type);
  if (!content.starts_with("\x1F\x8B")) expect(plain == content, "what is read and written is the same");
  const IdxArray again = must_work([&] { return read(gzipped(plain), type, dimensions); });
  expect(again.sizes == array.sizes && again.bytes == array.bytes, "gzipped or not, it reads the same");
}

}  // namespace

std::vector<std::string> seeds() {
  const std::string images =
      big_endian(0x803) + big_endian(2) + big_endian(2) + big_endian(3) + "abcdefabcdef";
  const std::string labels = big_endian(0x801) + big_endian(2) + "\1\2";
  const std::string writers = big_endian(0xC01) + big_endian(2) + big_endian(7) + big_endian(9);
  return {images, labels, writers, gzipped(images), gzipped(labels) + gzipped("\3")};
}

void try_input(std::string_view input) {
  for (const auto& [type, dimensions] : kKinds) {
    try {
      check(std::string(input), type, dimensions);
    } catch (const Error&) {
      continue;  // of another kind
    }
  }
}

}  // namespace subfleet::fuzz
