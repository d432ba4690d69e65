#pragma once

#include <string>

#include "subfleet/charts/chart.h"
#include "subfleet/rate_search.h"

namespace subfleet {

// How many rounds each value took, to the target or until it was stopped; of a halving search, the losses.
Chart search_chart(const RateSearch& search, const std::string& parameter);

}  // namespace subfleet
