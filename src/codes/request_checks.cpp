#include "codes/request_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "subfleet/error.h"

namespace subfleet {
namespace {

constexpr size_t kMostBits = size_t{1} << 28;

}  // namespace

void check_request(std::string_view family, const BookRequest& request) {
  if (request.length == 0) throw bad_request(family, "length is 0; must be at least 1 unit");
  if (request.rows == 0) throw bad_request(family, "rows is 0; must be at least 1 client");
  const size_t most_rows = request.length > kMostBits ? 0 : kMostBits / ((request.length + 63) / 64 * 64);
  if (request.rows > most_rows) {
    throw bad_request(family, fmt::format("{} rows of {} bits are too many; a book holds at most 2^28 bits",
                                          request.rows, request.length));
  }
}

size_t kept_units(std::string_view family, size_t length, double keep) {
  if (!(keep > 0 && keep <= 1)) {
    throw bad_request(family, fmt::format("keep {} is not a fraction above 0 and up to 1", keep));
  }
  if (length == 0) throw bad_request(family, "length is 0; must be at least 1 unit");
  return std::max<size_t>(1, static_cast<size_t>(std::llround(keep * static_cast<double>(length))));
}

void require_half(std::string_view family, double keep) {
  if (keep != 0.5) {
    throw bad_request(family, fmt::format("keep {} is not 0.5, the only fraction its words have; balanced, "
                                          "legendre, cwc and random take any fraction",
                                          keep));
  }
}

}  // namespace subfleet
