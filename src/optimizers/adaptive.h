#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/host_device.h"
#include "subfleet/partial_sum.h"
#include "subfleet/server_optimizer.h"

namespace subfleet {

// Reddi et al. 2020, Algorithm 2, as the paper prints it: momentum m = beta1 m + (1 - beta1) mean, a second
// moment v made from the squared momentum by Second::second_moment(v, m^2, beta2), and w += lr * m / (sqrt(v)
// + tau). No bias correction; m and v start at 0.
template <typename Second>
class Adaptive {
 public:
  static constexpr std::string_view kName = Second::kName;
  static constexpr double kDefaultLr = 0.01;
  static constexpr bool kWantsSquaredNorms = false;
  static constexpr std::array<std::string_view, 2> kMoments{"m", "v"};

  explicit Adaptive(const OptimizerOptions& options)
      : lr_(options.lr),
        beta1_(options.beta1),
        beta2_(options.beta2),
        tau_(options.tau),
        freeze_(options.unheld == "freeze") {}

  // Without branches, so that it runs at the speed of memory.
  SUBFLEET_HOST_DEVICE void operator()(int64_t sum, uint32_t holders, float& weight, float& first,
                                       float& second) const {
    const bool keep = freeze_ && holders == 0;
    const double mean = PartialSum::mean_of(sum, holders);
    const double m = beta1_ * static_cast<double>(first) + (1 - beta1_) * mean;
    const double v = Second::second_moment(static_cast<double>(second), m * m, beta2_);
    const double moved = static_cast<double>(weight) + lr_ * m / (std::sqrt(v) + tau_);
    first = keep ? first : static_cast<float>(m);
    second = keep ? second : static_cast<float>(v);
    weight = keep ? weight : static_cast<float>(moved);
  }

 private:
  double lr_, beta1_, beta2_, tau_;
  bool freeze_;
};

}  // namespace subfleet
