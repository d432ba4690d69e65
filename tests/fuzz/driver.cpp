#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "fuzz.h"

namespace subfleet::fuzz {

void expect(bool holds, std::string_view law) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %.*s\n", static_cast<int>(law.size()), law.data());
  std::abort();
}

}  // namespace subfleet::fuzz

// libFuzzer's names. The seeds go into the first folder on the command line, where it keeps its inputs.
extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  for (int i = 1; i < *count; ++i) {
    const std::filesystem::path folder = (*arguments)[i];
    if (!std::filesystem::is_directory(folder)) continue;
    size_t number = 0;
    for (const std::string& seed : subfleet::fuzz::seeds()) {
      std::ofstream(folder / ("seed" + std::to_string(number++)), std::ios::binary) << seed;
    }
    break;
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    subfleet::fuzz::try_input({reinterpret_cast<const char*>(data), size});
  } catch (const subfleet::Error&) {
    return 0;
  }
  return 0;
}
