#include "arrays.h"

#include <fmt/format.h>

#include "subfleet/error.h"

namespace subfleet::python {

void check_size(std::string_view what, size_t found, size_t wanted) {
  if (found != wanted) throw bad_request(what, fmt::format("{} values; expected {}", found, wanted));
}

}  // namespace subfleet::python
