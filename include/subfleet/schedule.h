#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace subfleet {

// What becomes of a learning rate over a run: it rises during the warm-up, then falls to its final share at
// the horizon, and stays there.
struct ScheduleOptions {
  std::string schedule = "constant";
  uint32_t warmup = 0;  // rounds in which the rate rises in equal steps
  double final = 0.01;  // share of the rate in the last round of the horizon; `constant` has none
  bool operator==(const ScheduleOptions&) const = default;
};

// The share of the rate in a round, counted from 1, of a run of `horizon` rounds. Throws Error naming the
// nearest if there is no such schedule.
double share_of_rate(const ScheduleOptions& options, uint32_t round, uint32_t horizon);

std::vector<std::string> schedule_names();

// Whether it is 1 in every round.
bool is_constant(const ScheduleOptions& options);

// Whether the share depends on the horizon.
bool needs_horizon(const ScheduleOptions& options);

}  // namespace subfleet
