#pragma once

#include <string_view>

#include "base/host_device.h"
#include "optimizers/adaptive.h"

namespace subfleet {

struct FedAdagradMoment {
  static constexpr std::string_view kName = "fedadagrad";
  SUBFLEET_HOST_DEVICE static double second_moment(double v, double m2, double /*beta2*/) { return v + m2; }
};
using FedAdagrad = Adaptive<FedAdagradMoment>;

}  // namespace subfleet
