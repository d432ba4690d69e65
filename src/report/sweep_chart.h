#pragma once

#include "subfleet/charts/chart.h"
#include "subfleet/sweep/results.h"

namespace subfleet {

// What lies along the chart.
enum class ChartOver { kBytes, kRounds };

// Test accuracy over bytes exchanged, or over rounds: for every run the mean over its seeds of the smoothed
// accuracy at equal rounds, with the lowest and the highest seed as a band; the target as a level.
Chart sweep_chart(const SweepResults& results, ChartOver over = ChartOver::kBytes);

// As a picture that is always light and reads well 900 pixels wide.
std::string sweep_svg(const SweepResults& results);

}  // namespace subfleet
