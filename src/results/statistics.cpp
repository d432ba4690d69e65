#include "subfleet/results/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace subfleet {
namespace {

constexpr double kNormal = 1.959964;  // the 97.5 % quantile of the normal distribution

}  // namespace

std::optional<Estimate> estimate(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  const auto count = static_cast<double>(values.size());
  Estimate result{std::accumulate(values.begin(), values.end(), 0.0) / count, std::nullopt, values.size()};
  if (values.size() == 1) return result;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  result.interval = student_t(values.size() - 1) * std::sqrt(squares / (count - 1) / count);
  return result;
}

ShareInterval share_interval(double share, size_t trials) {
  const auto n = static_cast<double>(trials);
  const double z2 = kNormal * kNormal;
  const double centre = (share + z2 / (2 * n)) / (1 + z2 / n);
  const double half = kNormal / (1 + z2 / n) * std::sqrt(share * (1 - share) / n + z2 / (4 * n * n));
  return {std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

double fisher_exact_p(size_t hits, size_t trials, size_t other_hits, size_t other_trials) {
  const auto log_choose = [](size_t n, size_t k) {
    return std::lgamma(static_cast<double>(n + 1)) - std::lgamma(static_cast<double>(k + 1)) -
           std::lgamma(static_cast<double>(n - k + 1));
  };
  // All hits being given, how many of them the first series has is hypergeometric.
  const size_t all = hits + other_hits;
  const auto chance = [&](size_t first) {
    return std::exp(log_choose(trials, first) + log_choose(other_trials, all - first) -
                    log_choose(trials + other_trials, all));
  };
  constexpr double kRounding = 1 + 1e-9;
  double sum = 0;
  for (size_t first = all > other_trials ? all - other_trials : 0; first <= std::min(all, trials); ++first) {
    if (chance(first) <= chance(hits) * kRounding) sum += chance(first);
  }
  return std::min(1.0, sum);
}

double student_t(size_t degrees_of_freedom) {
  constexpr std::array kTable{12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646,
                              2.3060,  2.2622, 2.2281, 2.2010, 2.1788, 2.1604, 2.1448,
                              2.1314,  2.1199, 2.1098, 2.1009, 2.0930, 2.0860};
  if (degrees_of_freedom <= kTable.size()) return kTable[degrees_of_freedom - 1];
  // Fisher's expansion around the normal quantile: exact to four decimals from here on.
  const auto n = static_cast<double>(degrees_of_freedom);
  const double z = kNormal, z2 = z * z;
  return z + z * (z2 + 1) / (4 * n) + z * ((5 * z2 + 16) * z2 + 3) / (96 * n * n) +
         z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * n * n * n);
}

}  // namespace subfleet
