#include "subfleet/base/path_name.h"

#include <fmt/format.h>

#include "subfleet/base/text.h"

namespace subfleet {

std::string path_name(const std::filesystem::path& path) {
  if (one_line(path.string()) == path.string()) return path.string();
  std::string name = "$'";
  for (const char c : path.string()) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      name += "\\n";
    } else if (c == '\\' || c == '\'') {
      name += {'\\', c};
    } else if (byte < ' ' || byte > '~') {
      name += fmt::format("\\x{:02X}", byte);
    } else {
      name += c;
    }
  }
  return name + "'";
}

}  // namespace subfleet
