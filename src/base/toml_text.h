#pragma once

#include <toml++/toml.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace subfleet {

// The only way TOML is read here. Refuses a document that is longer than kMostTextBytes (base/file.h), or
// whose keys and brackets nest deeper than ours ever do, before a parser recurses into it. Throws Error,
// "SOURCE: line N: why".
toml::table parse_toml(std::string_view text, std::string_view source);

// Every value of a table and of the tables in it, under its dotted name: "code.keep".
void for_each_value(const toml::table& table,
                    const std::function<void(const std::string& name, const toml::node& value)>& visit);

// A value on one line, as people read it: a text without quotes, 0.03, [1, 0.5].
std::string value_text(const toml::node& node);

// Throws Error, naming the nearest known key, if the table has any other key. `what` says what the table is.
void check_keys(const toml::table& table, std::string_view what, const std::vector<std::string>& known);

}  // namespace subfleet
