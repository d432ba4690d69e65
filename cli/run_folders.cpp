#include "run_folders.h"

#include <algorithm>
#include <system_error>

namespace subfleet::cli {

std::vector<std::filesystem::path> without_files(std::vector<std::filesystem::path> paths) {
  const auto is_file = [](const std::filesystem::path& path) {
    std::error_code code;
    return std::filesystem::is_regular_file(path, code);
  };
  if (!std::ranges::all_of(paths, is_file)) std::erase_if(paths, is_file);
  return paths;
}

}  // namespace subfleet::cli
