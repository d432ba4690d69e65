#include "model/model_keys.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <set>

#include "subfleet/error.h"

namespace subfleet {

std::string at_key(std::string_view where, std::string_view key) {
  return where.empty() ? std::string(key) : fmt::format("{}: {}", where, key);
}

size_t read_count(const std::string& what, const toml::node& node) {
  const std::optional<int64_t> count = node.is_integer() ? node.value<int64_t>() : std::nullopt;
  if (!count || *count < 1) throw bad_request(what, "must be a whole number, 1 or more");
  return static_cast<size_t>(*count);
}

bool read_flag(const std::string& what, const toml::node& node) {
  if (!node.is_boolean()) throw bad_request(what, "must be true or false");
  return *node.value<bool>();
}

std::string read_text(const std::string& what, const toml::node& node) {
  if (!node.is_string()) throw bad_request(what, "must be a text in quotes");
  return *node.value<std::string>();
}

void check_keys(std::string_view where, const toml::table& table, const std::vector<std::string>& known) {
  const std::set<std::string_view> names(known.begin(), known.end());
  for (const auto& [key, node] : table) {
    if (!names.contains(key.str())) throw unknown_name(at_key(where, "key"), key.str(), known);
  }
}

const toml::node& required(std::string_view where, const toml::table& table, std::string_view key,
                           std::string_view example) {
  const toml::node* node = table.get(key);
  if (node == nullptr) throw bad_request(at_key(where, key), fmt::format("is missing; as in {}", example));
  return *node;
}

}  // namespace subfleet
