#pragma once

#include <toml++/toml.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace subfleet {

// The one way to read TOML. A document longer than kMostTextBytes (base/file.h), or whose keys and brackets
// reach deeper than any of ours, is refused before a parser recurses into it. Throws Error, "SOURCE: line N:
// why".
toml::table parse_toml(std::string_view text, std::string_view source);

// Every value of a table and of the tables in it, under its dotted name: "code.keep".
void for_each_value(const toml::table& table,
                    const std::function<void(const std::string& name, const toml::node& value)>& visit);

// A value as people read it, on one line: a text without quotes, 0.03, [1, 0.5].
std::string value_text(const toml::node& node);

// Throws Error, naming the nearest, unless the table has these keys alone; `what` says what they are.
void check_keys(const toml::table& table, std::string_view what, const std::vector<std::string>& known);

}  // namespace subfleet
