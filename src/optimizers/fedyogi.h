#pragma once

#include <string_view>

#include "base/host_device.h"
#include "optimizers/adaptive.h"

namespace subfleet {

struct FedYogiMoment {
  static constexpr std::string_view kName = "fedyogi";
  SUBFLEET_HOST_DEVICE static double second_moment(double v, double m2, double beta2) {
    const double sign = v > m2 ? 1.0 : (v < m2 ? -1.0 : 0.0);
    return v - (1 - beta2) * m2 * sign;
  }
};
using FedYogi = Adaptive<FedYogiMoment>;

}  // namespace subfleet
