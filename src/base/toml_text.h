#pragma once

#include <toml++/toml.h>

#include <string>
#include <string_view>
#include <vector>

namespace subfleet {

// The only way TOML is read here. Refuses a document that is longer than kMostTextBytes (base/file.h), or
// whose keys and brackets nest deeper than ours ever do, before a parser recurses into it. Throws Error,
// "SOURCE: line N: why".
toml::table parse_toml(std::string_view text, std::string_view source);

// A value on one line, as people read it: a text without quotes, 0.03, [1, 0.5].
std::string value_text(const toml::node& node);

// Throws Error, naming the nearest known key, if the table has any other key. `what` says what the table is.
void check_keys(const toml::table& table, std::string_view what, const std::vector<std::string>& known);

}  // namespace subfleet
