#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/host_device.h"
#include "subfleet/server_optimizer.h"

namespace subfleet {

// A rule that also keeps the exponential mean of the weights it has made:
//   average = keep average + (1 - keep) w,
// in which keep is the round's (ServerRound): it grows from 0 to the decay as rounds pass, so that the mean
// is over the rounds that there were, each counting `decay` times what the next one does.
template <typename Rule>
class Averaged {
  template <size_t... kIndex>
  static constexpr auto with_average(std::index_sequence<kIndex...>) {
    return std::array<std::string_view, sizeof...(kIndex) + 1>{kAverage, Rule::kMoments[kIndex]...};
  }

 public:
  using Plain = Rule;
  static constexpr std::string_view kName = Rule::kName;
  static constexpr bool kWantsSquaredNorms = Rule::kWantsSquaredNorms;
  static constexpr auto kMoments = with_average(std::make_index_sequence<Rule::kMoments.size()>());

  Averaged(Rule rule, double keep) : rule_(rule), keep_(keep) {}

  template <typename... Moments>
  SUBFLEET_HOST_DEVICE void operator()(int64_t sum, uint32_t holders, float& weight, float& average,
                                       Moments&... moments) const {
    rule_(sum, holders, weight, moments...);
    average =
        static_cast<float>(keep_ * static_cast<double>(average) + (1 - keep_) * static_cast<double>(weight));
  }

 private:
  Rule rule_;
  double keep_;
};

}  // namespace subfleet
