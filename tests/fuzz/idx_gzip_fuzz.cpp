#include <algorithm>
#include <sstream>

#include "data/idx_file.h"
#include "data/unpacked_stream.h"
#include "files.h"
#include "fuzz.h"

// Files whose gzip is right and whose content is not: the input is unpacked, changed and packed again.
namespace subfleet::fuzz {
namespace {

std::string unpacked(std::string_view input) {
  constexpr size_t kMost = 1 << 14;
  std::string content(kMost, '\0');
  std::istringstream in{std::string(input)};
  UnpackedStream stream(in, "f");
  content.resize(stream.read({reinterpret_cast<uint8_t*>(content.data()), content.size()}));
  return content;
}

}  // namespace

std::vector<std::string> seeds() {
  return {gzipped(big_endian(0x803) + big_endian(2) + big_endian(2) + big_endian(3) + "abcdefabcdef"),
          gzipped(big_endian(0x803) + big_endian(1000) + big_endian(1) + big_endian(9) +
                  std::string(9000, '\0'))};
}

void try_input(std::string_view input) {
  std::istringstream in{std::string(input)};
  const IdxArray array = read_idx(in, input.size(), "f", IdxType::kUbyte, 3);
  expect(array.bytes.size() == size_t{array.sizes[0]} * array.sizes[1] * array.sizes[2],
         "there are as many values as the header says");
  expect(array.bytes.size() <= UnpackedStream::most_unpacked(input.size()), "nothing comes out of nothing");
}

}  // namespace subfleet::fuzz

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  if (seed % 4 == 0) return LLVMFuzzerMutate(data, size, most);
  std::string content;
  try {
    content = subfleet::fuzz::unpacked({reinterpret_cast<const char*>(data), size});
  } catch (const subfleet::Error&) {
    return LLVMFuzzerMutate(data, size, most);
  }
  const size_t length = content.size();
  content.resize(length + 64);
  content.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(content.data()), length, content.size()));
  const std::string packed = subfleet::fuzz::gzipped(content);
  if (packed.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::ranges::copy(packed, reinterpret_cast<char*>(data));
  return packed.size();
}
