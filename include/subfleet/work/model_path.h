#pragma once

#include <filesystem>

#include "subfleet/config.h"

namespace subfleet {

// If the settings name a model file that is in this folder, they name it there from now on.
void prefer_model_in(const std::filesystem::path& folder, Config& config);

}  // namespace subfleet
