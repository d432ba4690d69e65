#pragma once

#include <cstddef>
#include <string_view>

#include "subfleet/codes.h"

namespace subfleet {

// Throws Error if rows and length make no sense for any family.
void check_request(std::string_view family, const BookRequest& request);

// round(keep * length), at least one unit; throws Error for a fraction outside (0, 1].
size_t kept_units(std::string_view family, size_t length, double keep);

// Throws Error unless keep is 1/2. The error names the families that take other fractions.
void require_half(std::string_view family, double keep);

}  // namespace subfleet
