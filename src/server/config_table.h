#pragma once

#include <toml++/toml.h>

#include <string_view>

#include "subfleet/config.h"

namespace subfleet {

// parse_config() of a text that is parsed already.
Config read_config(const toml::table& table, std::string_view source);

}  // namespace subfleet
