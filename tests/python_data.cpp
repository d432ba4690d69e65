#include "python_data.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

namespace subfleet {

bool write_python_data(const std::string& name, const std::filesystem::path& folder) {
  if (std::string_view(SUBFLEET_PYTHON).ends_with("NOTFOUND")) return false;
  const std::string command =
      fmt::format("'{}' '{}' '{}' '{}'", SUBFLEET_PYTHON, SUBFLEET_WRITE_DATA, name, folder.string());
  constexpr int kLacksModule = 77;
  const int status = std::system(command.c_str());  // NOLINT(cert-env33-c): a test's own command
  if (WIFEXITED(status) && WEXITSTATUS(status) == kLacksModule) return false;
  EXPECT_EQ(status, 0) << command;
  return true;
}

}  // namespace subfleet
