#pragma once

#include <cstddef>
#include <string>

#include "subfleet/charts/chart.h"

namespace subfleet {

struct TextChartStyle {
  bool unicode = true;             // lines of Braille dots; otherwise one ASCII letter per line
  bool colour = false;             // ANSI colours
  size_t width = 70, height = 18;  // of the whole, legend not counted
};

// The chart drawn with letters, for a terminal. Every line carries marks of its own, so that colour is not
// needed.
std::string text_chart(const Chart& chart, const TextChartStyle& style);

}  // namespace subfleet
