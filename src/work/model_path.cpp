#include "subfleet/work/model_path.h"

#include <system_error>

namespace subfleet {

void prefer_model_in(const std::filesystem::path& folder, Config& config) {
  if (config.model.file.empty()) return;
  const std::filesystem::path there = folder / config.model.file;
  std::error_code unreadable;
  if (std::filesystem::exists(there, unreadable)) config.model.file = there.string();
}

}  // namespace subfleet
