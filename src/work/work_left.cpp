#include "subfleet/work/work_left.h"

#include "subfleet/work/shared_fleets.h"

namespace subfleet {
namespace {

bool is_search(const Trial& trial) { return trial.kind != ExperimentKind::kRuns; }

// An ensemble's members are runs of their own.
uint32_t rounds_of_run(const Trial& trial) { return trial.members.empty() ? trial.config.run.rounds : 0; }

}  // namespace

std::string together_key(const Trial& trial) {
  if (!trial.members.empty()) return trial.path.string();
  Config config = trial.config;
  config.run.seed = 0;
  config.server.lr = 1;  // runs that go on from searches have rates and draws of their own
  config.run.first_draw = 0;
  return trial.name + data_settings(config) + settings_name(config);
}

uint32_t WorkLeft::Work::rounds_of_search() const {
  constexpr uint32_t kGuess = 200;  // before the first has shown how many it takes
  return searches_done == 0 ? kGuess : rounds_done / searches_done;
}

void WorkLeft::count(size_t experiment, std::span<const Trial> trials) {
  Work& work = experiments_[experiment];
  clock_.give_up(experiment, work.rounds());
  work.trials = trials.size();
  work.run_rounds = work.searches = 0;
  for (const Trial& trial : trials) {
    if (is_search(trial)) {
      ++work.searches;
    } else {
      work.run_rounds += rounds_of_run(trial);
    }
  }
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
    const auto searches = static_cast<uint32_t>(group.size());
    work.searches -= searches;
    return searches * work.rounds_of_search();
  }
  uint32_t rounds = 0;
  for (const Trial& trial : group) rounds += rounds_of_run(trial);
  work.run_rounds -= rounds;
  return rounds;
}

void WorkLeft::searched(size_t experiment, size_t searches, uint32_t rounds) {
  Work& work = experiments_[experiment];
  clock_.give_up(experiment, work.rounds());
  work.searches_done += static_cast<uint32_t>(searches);
  work.rounds_done += rounds;
  clock_.expect(experiment, work.rounds());
}

}  // namespace subfleet
