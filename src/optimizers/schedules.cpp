#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>
#include <utility>

#include "subfleet/error.h"
#include "subfleet/schedule.h"

namespace subfleet {
namespace {

using Place = SchedulePlace;

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
  std::string name;
  std::function<double(const Place&, double final)> share;
  bool needs_horizon = true;
};

// Those of the program's own come behind Subfleet's.
struct Schedules {
  std::mutex mutex;
  std::vector<Schedule> all{{"constant", constant, false},
                            {"cosine", cosine},
                            {"linear", linear},
                            {"step", step},
                            {"inverse-sqrt", inverse_sqrt, false}};
};

Schedules& schedules() {
  static Schedules known;
  return known;
}

Schedule find(std::string_view name) {
  Schedules& known = schedules();
  {
    const std::lock_guard lock(known.mutex);
    for (const Schedule& schedule : known.all) {
      if (schedule.name == name) return schedule;
    }
  }
  throw unknown_name("schedule", name, schedule_names());
}

}  // namespace

double share_of_rate(const ScheduleOptions& options, uint32_t round, uint32_t horizon) {
  const Schedule schedule = find(options.schedule);
  const double warmup = options.warmup;
  if (round <= options.warmup) return round / (warmup + 1);
  const double passed = round - warmup - 1, rest = horizon - warmup - 1;
  const double of_rest = rest > 0 ? std::min(1.0, passed / rest) : std::min(1.0, passed);
  const double share =
      schedule.share({.passed = passed, .of_rest = of_rest, .warmup = warmup}, options.final);
  if (share >= 0 && std::isfinite(share)) return share;
  throw failure(schedule.name, fmt::format("gave {} as the share of the rate; it is 0 or more", share));
}

void register_schedule(const std::string& name, std::function<double(const SchedulePlace&, double)> share) {
  if (name.empty()) throw bad_request("schedule", "its name is empty; it is that of server.schedule");
  Schedules& known = schedules();
  const std::lock_guard lock(known.mutex);
  for (const Schedule& other : known.all) {
    if (other.name == name)
      throw bad_request("schedule", fmt::format("'{}' is there already; choose another name", name));
  }
  known.all.push_back({name, std::move(share)});
}

std::vector<std::string> schedule_names() {
  Schedules& known = schedules();
  const std::lock_guard lock(known.mutex);
  std::vector<std::string> names;
  for (const Schedule& schedule : known.all) names.push_back(schedule.name);
  return names;
}

bool is_constant(const ScheduleOptions& options) {
  return find(options.schedule).name == "constant" && options.warmup == 0;
}

bool needs_horizon(const ScheduleOptions& options) { return find(options.schedule).needs_horizon; }

}  // namespace subfleet
