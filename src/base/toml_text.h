#pragma once

#include <toml++/toml.h>

#include <string>
#include <string_view>
#include <vector>

namespace subfleet {

// The one way to read TOML. A document longer than kMostTextBytes (base/file.h), or whose keys and brackets
// reach deeper than any of ours, is refused before a parser recurses into it. Throws Error, "SOURCE: line N:
// why".
toml::table parse_toml(std::string_view text, std::string_view source);

// A value as people read it, on one line: a text without quotes, 0.03, [1, 0.5].
std::string value_text(const toml::node& node);

// Throws Error, naming the nearest, unless the table has these keys alone; `what` says what they are.
void check_keys(const toml::table& table, std::string_view what, const std::vector<std::string>& known);

}  // namespace subfleet
