#include "work_left.h"

#include <map>

#include "shared_fleets.h"

namespace subfleet::cli {
namespace {

bool is_search(const Trial& trial) { return trial.kind != ExperimentKind::kRuns; }

// An ensemble's members are runs of their own.
uint32_t rounds_of_run(const Trial& trial) { return trial.members.empty() ? trial.config.run.rounds : 0; }

}  // namespace

std::string but_for_seed(const Trial& trial) {
  if (!trial.members.empty()) return trial.path.string();
  Config config = trial.config;
  config.run.seed = 0;
  return trial.name + data_settings(config) + settings_name(config);
}

uint32_t WorkLeft::Work::rounds_of_group() const {
  constexpr uint32_t kGuess = 100;  // before the first has shown how many it takes
  return groups_done == 0 ? kGuess : rounds_done / groups_done;
}

void WorkLeft::count(size_t experiment, std::span<const Trial> trials) {
  Work& work = experiments_[experiment];
  clock_.give_up(experiment, work.rounds());
  work.trials = trials.size();
  work.run_rounds = work.search_groups = 0;
  std::map<std::string, size_t> searches;  // how many can be made side by side
  for (const Trial& trial : trials) {
    if (is_search(trial)) {
      ++searches[but_for_seed(trial)];
    } else {
      work.run_rounds += rounds_of_run(trial);
    }
  }
  for (const auto& [alike, number] : searches)
    work.search_groups += static_cast<uint32_t>((number + together_ - 1) / together_);
  clock_.expect(experiment, work.rounds());
}

size_t WorkLeft::trials() const {
  size_t count = 0;
  for (const Work& work : experiments_) count += work.trials;
  return count;
}

uint32_t WorkLeft::begin(size_t experiment, std::span<const Trial> group) {
  Work& work = experiments_[experiment];
  work.trials -= group.size();
  if (is_search(group.front())) {
    --work.search_groups;
    return work.rounds_of_group();
  }
  uint32_t rounds = 0;
  for (const Trial& trial : group) rounds += rounds_of_run(trial);
  work.run_rounds -= rounds;
  return rounds;
}

void WorkLeft::searched(size_t experiment, uint32_t rounds) {
  Work& work = experiments_[experiment];
  clock_.give_up(experiment, work.rounds());
  ++work.groups_done;
  work.rounds_done += rounds;
  clock_.expect(experiment, work.rounds());
}

}  // namespace subfleet::cli
