#pragma once

#include <nlohmann/json.hpp>

#include "subfleet/rate_search.h"

namespace subfleet {

// What search_json() writes.
nlohmann::ordered_json search_value(const RateSearch& search, const Config& config);

}  // namespace subfleet
