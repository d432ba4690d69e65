#pragma once

#include <string>
#include <string_view>

namespace subfleet::flower {

// A private key on the curve P-384, as numbers.
struct CurveKey {
  std::string point;   // the public part: 4 and both coordinates, 97 bytes
  std::string scalar;  // the private part, most significant byte first
};

// Whether the text is in OpenSSH's format, which ssh-keygen writes.
bool is_openssh_key(std::string_view text);

// Reads what `ssh-keygen -t ecdsa -b 384` writes without a passphrase. Throws Error, naming `source`, for
// anything else. Does not check that point and scalar belong together.
CurveKey parse_openssh_key(std::string_view text, std::string_view source);

}  // namespace subfleet::flower
