#pragma once

#include <filesystem>

#include "subfleet/config.h"

namespace subfleet {

// The configuration in a folder's file. The model file that it uses, if any, is saved beside it as
// model.toml, so that the folder does not depend on a file that may change or move.
void save_config(const std::filesystem::path& file, const Config& config);
Config load_config(const std::filesystem::path& file);

inline constexpr auto kModelFile = "model.toml";

}  // namespace subfleet
