#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace subfleet {

// The one exception of the library. Its message is one line, "what: why", that says what would be right.
class Error : public std::runtime_error {
 public:
  enum class Kind {
    kRequest,  // what was asked for is wrong: a setting, an option, a malformed file
    kFailure,  // the work failed: a full disk, a run that diverged
  };
  Error(Kind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

// Build an Error to throw: `throw bad_request("gold", fmt::format("length {} is not 2^n", n))`.
Error bad_request(std::string_view what, std::string_view why);
Error failure(std::string_view what, std::string_view why);

// "unknown family 'glod'; nearest: gold (known: none, same, ...)": the error for a name that is not in a
// table. Of a long table only the nearest few are named.
Error unknown_name(std::string_view what, std::string_view name, std::span<const std::string> known);

}  // namespace subfleet
