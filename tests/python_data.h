#pragma once

#include <filesystem>
#include <string>

namespace subfleet {

// Lets tests/write_data.py, with the tools that people use, write a data set of that name into the folder.
// False where Python or what it needs is absent: the test is then skipped.
bool write_python_data(const std::string& name, const std::filesystem::path& folder);

// What write_data.py puts there: pixel `place` of example `i` of the user whose number is `user`, as a byte.
inline int written_pixel(size_t user, size_t i, size_t place) {
  return static_cast<int>((user * 31 + i * 7 + place) % 256);
}
inline int written_label(size_t user, size_t i) { return static_cast<int>((user * 5 + i) % 62); }

}  // namespace subfleet
