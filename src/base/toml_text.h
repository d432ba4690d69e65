#pragma once

#include <toml++/toml.h>

#include <string_view>

namespace subfleet {

// The one way to read TOML. A document longer than kMostTextBytes (base/file.h), or whose keys and brackets
// reach deeper than any of ours, is refused before a parser recurses into it. Throws Error, "SOURCE: line N:
// why".
toml::table parse_toml(std::string_view text, std::string_view source);

}  // namespace subfleet
