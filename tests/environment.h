#pragma once

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

namespace subfleet {

using Variables = std::map<std::string, std::string>;  // of the environment, by their names

// Sets variables of the environment, and at its end puts back what they were.
class Environment {
 public:
  explicit Environment(const Variables& variables) {
    for (const auto& [name, value] : variables) {
      const char* const old = std::getenv(name.c_str());
      before_[name] = old == nullptr ? std::nullopt : std::optional<std::string>(old);
      ::setenv(name.c_str(), value.c_str(), 1);
    }
  }
  ~Environment() {
    for (const auto& [name, value] : before_) {
      if (value) {
        ::setenv(name.c_str(), value->c_str(), 1);
      } else {
        ::unsetenv(name.c_str());
      }
    }
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

}  // namespace subfleet
