#pragma once

#include <string_view>

#include "base/host_device.h"
#include "optimizers/adaptive.h"

namespace subfleet {

struct FedAdamMoment {
  static constexpr std::string_view kName = "fedadam";
  SUBFLEET_HOST_DEVICE static double second_moment(double v, double m2, double beta2) {
    return beta2 * v + (1 - beta2) * m2;
  }
};
using FedAdam = Adaptive<FedAdamMoment>;

}  // namespace subfleet
