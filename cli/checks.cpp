#include "checks.h"

#include <fmt/format.h>

#include <charconv>
#include <string>

namespace subfleet::cli {

CLI::Validator whole_number(uint64_t low, uint64_t high) {
  const auto check = [low, high](const std::string& text) {
    uint64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool good =
        code == std::errc() && end == text.data() + text.size() && value >= low && value <= high;
    return good ? std::string() : fmt::format("'{}' is not a whole number from {} to {}", text, low, high);
  };
  return {check, "", ""};
}

CLI::Validator not_empty() {
  const auto check = [](const std::string& text) {
    return text.empty() ? std::string("is empty; is a variable of the shell not set?") : std::string();
  };
  return {check, "", ""};
}

}  // namespace subfleet::cli
