#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/host_device.h"
#include "subfleet/partial_sum.h"
#include "subfleet/server_optimizer.h"

namespace subfleet {

// McMahan et al. 2017, with a server learning rate: w += lr * mean, for every weight that somebody held.
class FedAvg {
 public:
  static constexpr std::string_view kName = "fedavg";
  static constexpr double kDefaultLr = 1.0;
  static constexpr bool kWantsSquaredNorms = false;
  static constexpr std::array<std::string_view, 0> kMoments{};

  explicit FedAvg(const OptimizerOptions& options) : FedAvg(options.lr) {}
  explicit FedAvg(double lr) : lr_(lr) {}

  SUBFLEET_HOST_DEVICE void operator()(int64_t sum, uint32_t holders, float& weight) const {
    const double moved = static_cast<double>(weight) + lr_ * PartialSum::mean_of(sum, holders);
    weight = holders == 0 ? weight : static_cast<float>(moved);
  }

 private:
  double lr_;
};

}  // namespace subfleet
