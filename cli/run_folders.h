#pragma once

#include <filesystem>
#include <vector>

namespace subfleet::cli {

// Paths as the shell makes them of SWEEP/*, without the sweep's own files beside the run folders. If there
// are only files, they stay, for an error that names one.
std::vector<std::filesystem::path> without_files(std::vector<std::filesystem::path> paths);

}  // namespace subfleet::cli
