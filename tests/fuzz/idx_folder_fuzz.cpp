#include "../temporary_folder.h"
#include "files.h"
#include "fuzz.h"

// A folder of writers, labels and images. The input is the three files, the first two behind their length in
// one byte.
namespace subfleet::fuzz {

std::vector<std::string> seeds() {
  const std::string writers =
      big_endian(0xC01) + big_endian(3) + big_endian(7) + big_endian(9) + big_endian(7);
  const std::string labels = big_endian(0x801) + big_endian(3) + "\1\2\5";
  const std::string images = big_endian(0x803) + big_endian(3) + big_endian(1) + big_endian(2) + "abcdef";
  const auto input = [](const std::string& a, const std::string& b, const std::string& c) {
    return static_cast<char>(a.size()) + a + static_cast<char>(b.size()) + b + c;
  };
  return {input(writers, labels, images), input(gzipped(writers), labels, gzipped(images))};
}

void try_input(std::string_view input) {
  const auto take = [&] {
    const size_t size = input.empty() ? 0 : static_cast<uint8_t>(input[0]);
    input.remove_prefix(input.empty() ? 0 : 1);
    const std::string_view part = input.substr(0, size);
    input.remove_prefix(part.size());
    return part;
  };
  static const TemporaryFolder folder;
  write_quickly(folder / "x-writers-idx1-int", take());
  write_quickly(folder / "x-labels-idx1-ubyte", take());
  write_quickly(folder / "x-images-idx3-ubyte", input);
  check_federation(*open_federation({.source = "idx", .path = folder.path()}));
  check_federation(*must_work([] {
    return open_federation(
        {.source = "idx", .path = folder.path(), .transpose = true, .partition = "iid", .clients = 1});
  }));
}

}  // namespace subfleet::fuzz
