#include <array>
#include <cstdio>
#include <mutex>
#include <utility>

#include "run.h"
#include "subfleet/report/progress.h"
#include "subfleet/report/round_progress.h"
#include "subfleet/report/terminal.h"

namespace subfleet::python {

BoundRun::BoundRun(const Config& config, std::shared_ptr<BoundFleet> fleet,
                   const std::optional<std::filesystem::path>& initial,
                   const std::optional<std::filesystem::path>& folder)
    : fleet_(std::move(fleet)),
      session_(config, *fleet_->fleet, provenance_now(config, *fleet_->fleet, fleet_->workers), initial) {
  if (folder) session_.write_to(*folder);
}

BoundRun::BoundRun(const Config& config, std::shared_ptr<BoundFleet> fleet, RunWriter writer,
                   const Provenance& before)
    : fleet_(std::move(fleet)),
      session_(config, *fleet_->fleet, provenance_now(config, *fleet_->fleet, fleet_->workers),
               std::move(writer)) {
  warning_ = other_workers(before, session_.now());
}

RoundRecord BoundRun::step() {
  const std::lock_guard lock(fleet_->in_use);
  return session_.step();
}

Evaluation BoundRun::evaluate() {
  const std::lock_guard lock(fleet_->in_use);
  return run().evaluate();
}

void BoundRun::set_weights(std::span<const float> weights) {
  const std::lock_guard lock(fleet_->in_use);
  session_.set_weights(weights);
}

bool BoundRun::train(bool progress, RoundObserver& more, const std::function<bool()>& stop) {
  const std::lock_guard lock(fleet_->in_use);
  Progress bar(stdout, Progress::detect(stdout, !progress),
               {.rounds = run().config().run.rounds,
                .start_round = run().round(),
                .unicode = look_at_terminal(stdout).unicode,
                .width = {}});
  RoundProgress shown(bar, session_.bytes());
  const std::array<RoundObserver*, 2> observers{&shown, &more};
  return session_.train(observers, stop);
}

void BoundRun::finish() {
  const std::lock_guard lock(fleet_->in_use);
  session_.finish();
}

}  // namespace subfleet::python
