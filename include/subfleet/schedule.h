#pragma once

#include <cstdint>
#include <functional>
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

// Where a round stands after the warm-up.
struct SchedulePlace {
  double passed = 0;   // rounds since the warm-up's end
  double of_rest = 0;  // from 0, the first of them, to 1, the last of the horizon and all after it
  double warmup = 0;   // rounds
};

// Adds a schedule of the program's own: `share` gives the share of the rate, 0 or more, from the place and
// the final share, and may be called from any thread. It stays until the program ends. Throws Error if the
// name is empty or taken. A program that resumes the run has to register it too.
void register_schedule(const std::string& name,
                       std::function<double(const SchedulePlace& at, double final)> share);

// The share of the rate in a round, counted from 1, of a run of `horizon` rounds. Throws Error naming the
// nearest if there is no such schedule.
double share_of_rate(const ScheduleOptions& options, uint32_t round, uint32_t horizon);

std::vector<std::string> schedule_names();

// Whether it is 1 in every round.
bool is_constant(const ScheduleOptions& options);

// Whether the share depends on the horizon.
bool needs_horizon(const ScheduleOptions& options);

}  // namespace subfleet
