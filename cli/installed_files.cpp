#include "installed_files.h"

#include <filesystem>
#include <system_error>

namespace subfleet::cli {

std::string default_experiments() {
  const std::string here = "experiments";
  std::error_code unreadable;
  if (std::filesystem::is_directory(here, unreadable)) return here;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", unreadable);
  const std::filesystem::path installed =
      program.parent_path().parent_path() / "share" / "subfleet" / "experiments";
  return std::filesystem::is_directory(installed, unreadable) ? installed.string() : here;
}

}  // namespace subfleet::cli
