#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace subfleet {

// The mean of some values and how sure it is: with 95 % confidence within mean ± interval, by Student's t.
struct Estimate {
  double mean = 0;
  std::optional<double> interval;  // empty for a single value
  size_t count = 0;
};

// Empty if there are no values.
std::optional<Estimate> estimate(std::span<const double> values);

// Wilson's 95 % interval of a share, from 0 to 1, of `trials` trials.
struct ShareInterval {
  double low = 0, high = 0;
};
ShareInterval share_interval(double share, size_t trials);

// Fisher's exact test, of both sides: how likely two series of trials are to have hits that are at least as
// unlike as these, if one trial has the same chance in both.
double fisher_exact_p(size_t hits, size_t trials, size_t other_hits, size_t other_trials);

// The 97.5 % quantile of Student's t: an interval of 95 % has 2.5 % on either side.
double student_t(size_t degrees_of_freedom);

}  // namespace subfleet
