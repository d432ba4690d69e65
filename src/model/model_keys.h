#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/toml_text.h"

namespace subfleet {

// Reading a model file's keys. Each throws Error, naming the key.

// What is wrong with a key, in front of why: "layer 3 (conv2): units".
std::string at_key(std::string_view where, std::string_view key);

size_t read_count(const std::string& what, const toml::node& node);  // 1 or more
bool read_flag(const std::string& what, const toml::node& node);
std::string read_text(const std::string& what, const toml::node& node);

// A TOML text in quotes, of ASCII.
std::string toml_text(std::string_view text);

void check_keys(std::string_view where, const toml::table& table, const std::vector<std::string>& known);
const toml::node& required(std::string_view where, const toml::table& table, std::string_view key,
                           std::string_view example);

}  // namespace subfleet
