#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace subfleet {

enum class Unit {
  kPlain,
  kCount,  // whole numbers only
  kPercent,
  kBytes,
};

// A range of values, the ticks people like to read on it, and where a value stands.
struct Axis {
  double low = 0, high = 1;
  bool log = false;
  Unit unit = Unit::kPlain;
  std::vector<double> ticks;

  // 0 at `low`, 1 at `high`.
  double place(double value) const;
};

// 1, 2 or 5 times a power of ten apart, inside [low, high], at most `most` of them.
std::vector<double> linear_ticks(double low, double high, size_t most);

// Powers of ten inside [low, high], with 2 and 5 times them where there is room; low > 0.
std::vector<double> log_ticks(double low, double high, size_t most);

// An axis that holds all the values from low to high; an empty range is widened. A log axis needs low > 0.
struct AxisRequest {
  double low = 0, high = 1;
  bool log = false;
  Unit unit = Unit::kPlain;
  size_t most_ticks = 6;
};
Axis make_axis(const AxisRequest& request);

// "40 %", "1.5 GB", "200".
std::string tick_label(double value, Unit unit);

}  // namespace subfleet
