#pragma once

#include "report/chart.h"
#include "sweep/results.h"

namespace subfleet {

// Test accuracy over bytes exchanged: for every run the mean over its seeds of the smoothed accuracy at equal
// rounds, with the lowest and the highest seed as a band; the target as a level.
Chart sweep_chart(const SweepResults& results);

// As a picture that is always light and reads well 900 pixels wide.
std::string sweep_svg(const SweepResults& results);

}  // namespace subfleet
