#pragma once

#include <filesystem>
#include <string>

namespace subfleet {

// A path as one line that names no other path: as it is or, if it has control characters or is not UTF-8, the
// way a shell takes it, as in $'new\nline'.
std::string path_name(const std::filesystem::path& path);

}  // namespace subfleet
