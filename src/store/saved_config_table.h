#pragma once

#include <toml++/toml.h>

#include "subfleet/store/saved_config.h"

namespace subfleet {

// load_config() of a file that is parsed already.
Config read_saved_config(const toml::table& table, const std::filesystem::path& file);

}  // namespace subfleet
