#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace subfleet {

// The mean of some values and how sure it is: with 95 % confidence within mean ± interval, by Student's t.
struct Estimate {
  double mean = 0;
  std::optional<double> interval;  // none for a single value
  size_t count = 0;
};

// None for no values.
std::optional<Estimate> estimate(std::span<const double> values);

// The 97.5 % quantile of Student's t: an interval of 95 % has 2.5 % on either side.
double student_t(size_t degrees_of_freedom);

}  // namespace subfleet
