#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace subfleet {

// The folder's files whose names begin with `beginning` and end with one of `endings`, sorted by name. Throws
// Error if there is no such folder.
std::vector<std::filesystem::path> find_files(const std::filesystem::path& folder, std::string_view beginning,
                                              const std::vector<std::string_view>& endings);

// The only such file; throws Error if there is none, or more than one.
std::filesystem::path find_file(const std::filesystem::path& folder, std::string_view beginning,
                                const std::vector<std::string_view>& endings);

}  // namespace subfleet
