#include "base/format.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "subfleet/error.h"

namespace subfleet {

void check_format(uint64_t format, uint32_t newest, std::string_view name) {
  if (format <= newest) return;
  throw bad_request(name, fmt::format("written by a newer Subfleet (format {}; this one reads up to {}): "
                                      "update Subfleet",
                                      format, newest));
}

void check_result_format(const nlohmann::json& result, std::string_view name) {
  if (!result.contains("format")) return;
  const nlohmann::json& format = result["format"];
  if (!format.is_number_unsigned()) throw bad_request(name, "'format' is not a count");
  check_format(format.get<uint64_t>(), kResultFormat, name);
}

}  // namespace subfleet
