#include "data/find_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "subfleet/base/path_name.h"
#include "subfleet/error.h"

namespace subfleet {

namespace fs = std::filesystem;

std::vector<fs::path> find_files(const fs::path& folder, std::string_view beginning,
                                 const std::vector<std::string_view>& endings) {
  std::vector<fs::path> found;
  std::error_code code;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
    const std::string name = entry->path().filename().string();
    const bool ends =
        std::ranges::any_of(endings, [&](std::string_view ending) { return name.ends_with(ending); });
    if (ends && name.starts_with(beginning)) found.push_back(entry->path());
  }
  if (code) throw bad_request(path_name(folder), fmt::format("cannot be searched ({})", code.message()));
  std::sort(found.begin(), found.end());
  return found;
}

fs::path find_file(const fs::path& folder, std::string_view beginning,
                   const std::vector<std::string_view>& endings) {
  const std::vector<fs::path> found = find_files(folder, beginning, endings);
  if (found.empty()) {
    std::string names;
    for (const std::string_view ending : endings) {
      names += fmt::format("{}{}*{}", names.empty() ? "" : " or ", beginning, ending);
    }
    throw bad_request(path_name(folder), "holds no file " + names);
  }
  if (found.size() > 1) {
    throw bad_request(path_name(folder),
                      fmt::format("holds both {} and {}; keep one {}*{}", found[0].filename().string(),
                                  found[1].filename().string(), beginning, endings.front()));
  }
  return found.front();
}

}  // namespace subfleet
