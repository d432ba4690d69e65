#include "named_model.h"

#include <algorithm>
#include <filesystem>
#include <vector>

namespace subfleet::cli {

ModelOptions named_model(const std::string& name) {
  const std::vector<std::string> zoo = model_names();
  const bool known = std::ranges::find(zoo, name) != zoo.end();
  const bool path = name.find('/') != std::string::npos || name.ends_with(".toml") ||
                    std::filesystem::is_regular_file(name);
  return !known && path ? ModelOptions{.file = name} : ModelOptions{.name = name};
}

}  // namespace subfleet::cli
