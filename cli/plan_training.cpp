#include "plan_training.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <utility>

#include "report/page.h"
#include "report/round_progress.h"
#include "report/terminal.h"
#include "store/event_file.h"
#include "store/run_writer.h"
#include "subfleet/training.h"

namespace subfleet::cli {

std::string data_settings(const Config& config) {
  std::string text;
  for (const Setting& setting : settings(config)) {
    if (setting.name.starts_with("data.") || setting.name == "run.eval_samples")
      text += fmt::format("{} = {}\n", setting.name, setting.value);
  }
  return text;
}

void SharedFleets::check(const Config& config) {
  const std::string name = data_settings(config);
  const auto fits = [&](const SplitFederation& data) {
    check_fits(config, resolve_model(config.model), data.clients(), data.all().input(), data.all().classes());
  };
  if (name == fleet_data_) return fits(fleet_->data());
  auto found = data_.find(name);
  if (found == data_.end()) found = data_.emplace(name, open_split_federation(config.data)).first;
  fits(found->second);
}

Fleet& SharedFleets::fleet(const Config& config) {
  const std::string name = data_settings(config);
  if (name != fleet_data_) {
    check(config);
    fleet_.reset();
    fleet_ = std::make_unique<LocalFleet>(std::move(data_.extract(name).mapped()), device_, pool_,
                                          config.run.eval_samples);
    fleet_data_ = name;
  }
  return *fleet_;
}

bool train_run_of_plan(const RunOfPlan& one, SharedFleets& fleets, PlanClock& clock, Progress::Mode mode,
                       const InterruptWatch& watch) {
  const Config& config = one.config;
  Fleet& fleet = fleets.fleet(config);
  const Provenance now = provenance_now(config, fleet, fleets.workers());
  Run run(config, fleet);
  const bool begun = RunWriter::has_begun(one.path);
  RunWriter writer = begun ? RunWriter::reopen(one.path) : RunWriter::begin(one.path, run, now);
  const uint64_t bytes = begun ? writer.restore(run, now) : 0;
  clock.give_up(one.number, run.round());  // they were done before

  Progress progress(stdout, mode,
                    {.rounds = config.run.rounds,
                     .start_round = run.round(),
                     .unicode = look_at_terminal(stdout).unicode,
                     .fewest_lines = 2,
                     .title = one.title,
                     .test_lines = false,
                     .plan = plan_line(clock),
                     .width = {}});
  RoundProgress shown(progress, bytes, [&](double seconds) {
    clock.round_done(one.number, seconds);
    return plan_line(clock);
  });
  EventFile events(one.path, writer.log());
  const std::array<RoundObserver*, 3> observers{&writer, &events, &shown};
  try {
    if (!subfleet::train(run, observers, [&] { return watch.interrupted(); })) {
      writer.checkpoint(run);
      return false;
    }
    writer.finish(run);
  } catch (const Diverged& diverged) {
    RoundRecord last = diverged.last();
    last.train_loss = std::numeric_limits<double>::quiet_NaN();
    writer.append(last);
    clock.give_up(one.number, config.run.rounds - run.round());
    progress.note(fmt::format("{}: {}", one.name, diverged.what()));
  }
  progress.finish();
  write_run_page(one.path);
  return true;
}

}  // namespace subfleet::cli
