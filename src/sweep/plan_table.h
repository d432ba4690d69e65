#pragma once

#include <toml++/toml.h>

#include "subfleet/sweep/plan.h"

namespace subfleet {

// parse_sweep() of a text that is parsed already.
SweepPlan read_sweep(const toml::table& file, std::string_view source,
                     const std::function<void(Config&)>& change);

}  // namespace subfleet
