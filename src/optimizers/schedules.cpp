#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "subfleet/error.h"
#include "subfleet/schedule.h"

namespace subfleet {
namespace {

// Where a round stands after the warm-up.
struct Place {
  double passed = 0;   // rounds since the warm-up's end
  double of_rest = 0;  // from 0, the first of them, to 1, the last of the horizon and all after it
  double warmup = 0;   // rounds
};

double constant(const Place&, double) { return 1; }

double cosine(const Place& at, double final) {
  return final + (1 - final) * (1 + std::cos(std::numbers::pi * at.of_rest)) / 2;
}

double linear(const Place& at, double final) { return 1 - (1 - final) * at.of_rest; }

// Two drops of equal factors, after a half and three quarters of the way.
double step(const Place& at, double final) {
  return at.of_rest < 0.5 ? 1 : at.of_rest < 0.75 ? std::sqrt(final) : final;
}

// Vaswani et al. 2017: falls with the root of the round's number, but not below the final share.
double inverse_sqrt(const Place& at, double final) {
  return std::max(final, std::sqrt((at.warmup + 1) / (at.warmup + 1 + at.passed)));
}

// A new schedule is a function of the place and the final share, and a line here.
struct Schedule {
  std::string_view name;
  double (*share)(const Place&, double final);
  bool needs_horizon;
};
constexpr std::array kSchedules{Schedule{"constant", constant, false}, Schedule{"cosine", cosine, true},
                                Schedule{"linear", linear, true}, Schedule{"step", step, true},
                                Schedule{"inverse-sqrt", inverse_sqrt, false}};

const Schedule& find(std::string_view name) {
  for (const Schedule& schedule : kSchedules) {
    if (schedule.name == name) return schedule;
  }
  throw unknown_name("schedule", name, schedule_names());
}

}  // namespace

double share_of_rate(const ScheduleOptions& options, uint32_t round, uint32_t horizon) {
  const Schedule& schedule = find(options.schedule);
  const double warmup = options.warmup;
  if (round <= options.warmup) return round / (warmup + 1);
  const double passed = round - warmup - 1, rest = horizon - warmup - 1;
  const double of_rest = rest > 0 ? std::min(1.0, passed / rest) : std::min(1.0, passed);
  return schedule.share({.passed = passed, .of_rest = of_rest, .warmup = warmup}, options.final);
}

std::vector<std::string> schedule_names() {
  std::vector<std::string> names;
  for (const Schedule& schedule : kSchedules) names.emplace_back(schedule.name);
  return names;
}

bool is_constant(const ScheduleOptions& options) {
  return find(options.schedule).share == constant && options.warmup == 0;
}

bool needs_horizon(const ScheduleOptions& options) { return find(options.schedule).needs_horizon; }

}  // namespace subfleet
