#pragma once

#include <string>

#include "subfleet/sweep/results.h"

namespace subfleet {

// A sweep's runs side by side: as an aligned text table, as a page of Markdown that says how to read it, and
// as JSON with every seed's figures and a thinned curve.
std::string sweep_table(const SweepResults& results);
std::string sweep_markdown(const SweepResults& results);
std::string sweep_json(const SweepResults& results);

}  // namespace subfleet
