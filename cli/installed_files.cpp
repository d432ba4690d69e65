#include "installed_files.h"

#include <filesystem>
#include <system_error>

namespace subfleet::cli {

std::string default_experiments() {
  constexpr const char* kHere = "experiments";
  std::error_code unreadable;
  if (std::filesystem::is_directory(kHere, unreadable)) return kHere;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", unreadable);
  const std::filesystem::path installed =
      program.parent_path().parent_path() / "share" / "subfleet" / "experiments";
  return std::filesystem::is_directory(installed, unreadable) ? installed.string() : kHere;
}

}  // namespace subfleet::cli
