#pragma once

#include <string>

#include "subfleet/rate_search.h"

namespace subfleet {

// "reaches 32.3 % first with server.lr = 0.01778, after 31 rounds", or why nothing was found and what to do.
std::string explain_outcome(const RateSearch& search, const std::string& parameter);

// One line per candidate, as an aligned text table.
std::string candidate_table(const RateSearch& search, const std::string& parameter);

// What the search cost in rounds and bytes, beside the paper's formula.
std::string explain_cost(const RateSearch& search);

// Everything about a search, as the JSON of tune.json.
std::string search_json(const RateSearch& search, const Config& config);

}  // namespace subfleet
