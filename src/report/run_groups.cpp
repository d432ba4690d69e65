#include "subfleet/report/run_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "subfleet/base/text.h"
#include "subfleet/report/differences.h"
#include "subfleet/reproduce/pool.h"
#include "subfleet/results/run_measures.h"

namespace subfleet {
namespace {

constexpr auto kSeed = "run.seed";

// "gold" of "gold-3", "gold-seed3" and "gold/seed=3", if that is the run's seed; and of what a pool makes of
// it.
std::string name_without_seed(const ReportedRun& run) {
  std::string_view name = run.name;
  if (const auto settings = settings_in(name); !settings.empty())
    return std::string(name.substr(0, name.size() - settings.size() - 1));
  const std::string seed = fmt::format("{}", run.seed.value_or(0));
  const auto strip = [&](std::string_view end) {
    if (name.size() > end.size() && name.ends_with(end)) name.remove_suffix(end.size());
  };
  const auto strip_separators = [&] { name = name.substr(0, name.find_last_not_of("-_=./ ,") + 1); };
  strip(seed);
  strip_separators();
  strip("seed");
  strip_separators();
  return std::string(name);
}

std::string name_of(std::span<const ReportedRun> runs, const RunGroup& group) {
  const ReportedRun& first = runs[group.members.front()];
  if (group.members.size() == 1) return first.name;
  std::set<std::string> names;
  for (const size_t member : group.members) names.insert(name_without_seed(runs[member]));
  if (names.size() == 1 && !names.begin()->empty()) return *names.begin();
  return fmt::format("{} and {} more", first.name, group.members.size() - 1);
}

// What has to be equal for two runs to be of one group.
std::map<std::string, std::string> settings_but_seed(const ReportedRun& run) {
  std::map<std::string, std::string> settings = run.settings;
  std::erase_if(settings, [](const auto& setting) {
    return setting.first == kSeed || !decides_learning(setting.first);
  });
  return settings;
}

// Over the runs for which `figure` has a value.
template <typename Figure>
std::optional<Estimate> mean_of(std::span<const ReportedRun* const> runs, const Figure& figure) {
  std::vector<double> values;
  for (const ReportedRun* run : runs) {
    if (const auto value = figure(*run)) values.push_back(static_cast<double>(*value));
  }
  return estimate(values);
}

template <typename Figure>
Estimate mean_bytes(std::span<const ReportedRun* const> runs, const Figure& figure) {
  return *mean_of(runs, [&](const ReportedRun& run) { return std::optional(figure(run)); });
}

GroupFigures figures_of(std::span<const ReportedRun> runs, const RunGroup& group,
                        const Comparison& comparison) {
  const std::vector<const ReportedRun*> counted = counted_runs(runs, group);
  GroupFigures figures;
  figures.seeds = group.members.size();
  for (const size_t member : group.members) figures.diverged += has_diverged(runs[member]) ? 1 : 0;
  figures.final = mean_of(counted, final_accuracy);
  figures.best = mean_of(counted, best_accuracy);
  figures.bytes_down = mean_bytes(counted, bytes_down);
  figures.bytes_up = mean_bytes(counted, bytes_up);
  figures.search_bytes = mean_bytes(counted, [](const ReportedRun& run) { return run.search_bytes; });
  figures.bytes_total = mean_bytes(counted, bytes_total);
  const auto row = [&](const ReportedRun& run) { return comparison.rows[&run - runs.data()]; };
  figures.bytes_to_reach = mean_of(counted, [&](const auto& run) { return row(run).bytes_to_reach; });
  figures.reached = figures.bytes_to_reach ? figures.bytes_to_reach->count : 0;
  figures.accuracy_at = mean_of(counted, [&](const auto& run) { return row(run).accuracy_at; });
  return figures;
}

}  // namespace

std::vector<RunGroup> group_by_seed(std::span<const ReportedRun> runs) {
  std::vector<RunGroup> groups;
  std::map<std::map<std::string, std::string>, std::vector<size_t>> alike;  // groups by their settings
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto has_seed = [&](size_t group) {
      return std::ranges::any_of(groups[group].members,
                                 [&](size_t member) { return runs[member].seed == runs[i].seed; });
    };
    std::vector<size_t>& candidates = alike[settings_but_seed(runs[i])];
    const auto found = std::ranges::find_if_not(candidates, has_seed);
    if (found != candidates.end() && runs[i].seed) {
      groups[*found].members.push_back(i);
    } else {
      if (runs[i].seed) candidates.push_back(groups.size());
      groups.push_back({.name = "", .members = {i}});
    }
  }
  std::map<std::string, size_t> taken;
  for (RunGroup& group : groups) {
    group.name = name_of(runs, group);
    if (++taken[group.name] > 1) group.name += fmt::format(" ({})", taken[group.name]);
  }
  return groups;
}

std::vector<ReportedRun> representatives(std::span<const ReportedRun> runs,
                                         std::span<const RunGroup> groups) {
  std::vector<ReportedRun> all;
  for (const RunGroup& group : groups) {
    ReportedRun& one = all.emplace_back();
    one.name = group.name;
    one.settings = runs[group.members.front()].settings;
    if (group.members.size() == 1) continue;
    std::string& seeds = one.settings[kSeed];
    seeds.clear();
    for (const size_t member : group.members)
      seeds += fmt::format("{}{}", seeds.empty() ? "" : ", ", *runs[member].seed);
  }
  return all;
}

std::vector<const ReportedRun*> counted_runs(std::span<const ReportedRun> runs, const RunGroup& group) {
  std::vector<const ReportedRun*> all, counted;
  for (const size_t member : group.members) {
    all.push_back(&runs[member]);
    if (!has_diverged(runs[member])) counted.push_back(&runs[member]);
  }
  return counted.empty() ? all : counted;
}

std::vector<GroupFigures> group_figures(std::span<const ReportedRun> runs, std::span<const RunGroup> groups,
                                        const Comparison& comparison) {
  std::vector<GroupFigures> all;
  for (const RunGroup& group : groups) {
    GroupFigures figures = figures_of(runs, group, comparison);
    const auto& first = all.empty() ? figures.bytes_to_reach : all.front().bytes_to_reach;
    if (figures.bytes_to_reach && first && first->mean > 0)
      figures.bytes_ratio = figures.bytes_to_reach->mean / first->mean;
    all.push_back(figures);
  }
  return all;
}

std::string seeds_text(const GroupFigures& figures) {
  if (figures.diverged == 0) return fmt::format("{}", figures.seeds);
  return fmt::format("{} ({} diverged)", figures.seeds, figures.diverged);
}

std::string reached_text(const GroupFigures& figures) {
  if (!figures.bytes_to_reach) return "not reached";
  const std::string bytes = bytes_text(figures.bytes_to_reach);
  return figures.reached == figures.seeds
             ? bytes
             : fmt::format("{} ({} of {})", bytes, figures.reached, figures.seeds);
}

std::string percent_text(const std::optional<Estimate>& estimate) {
  if (!estimate || !estimate->interval) {
    return human_percent(estimate ? std::optional(estimate->mean) : std::nullopt);
  }
  return fmt::format("{:.1f} ± {:.1f} %", 100 * estimate->mean, 100 * *estimate->interval);
}

std::string bytes_text(const std::optional<Estimate>& estimate) {
  if (!estimate) return "-";
  std::string mean = human_bytes(estimate->mean);
  constexpr double kNegligible = 0.0005;  // of the mean: less than three digits show
  if (!estimate->interval || *estimate->interval < kNegligible * estimate->mean) return mean;
  return fmt::format("{} ± {}", mean, human_bytes(*estimate->interval));
}

}  // namespace subfleet
