#pragma once

#include "subfleet/charts/chart.h"
#include "subfleet/sweep/results.h"

namespace subfleet {

// What the chart's horizontal axis shows.
enum class ChartOver { kBytes, kRounds };

// Test accuracy over bytes exchanged, or over rounds. A run's line is the mean over its seeds of the smoothed
// accuracy at equal rounds, and its band reaches from the lowest to the highest seed. The target is a level.
Chart sweep_chart(const SweepResults& results, ChartOver over = ChartOver::kBytes);

// As an always light picture that reads well 900 pixels wide.
std::string sweep_svg(const SweepResults& results);

}  // namespace subfleet
