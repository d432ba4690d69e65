#include <cstdio>
#include <mutex>
#include <utility>

#include "page/page.h"
#include "report/progress.h"
#include "report/round_progress.h"
#include "report/terminal.h"
#include "run.h"
#include "subfleet/safetensors.h"

namespace subfleet::python {

BoundRun::BoundRun(const Config& config, std::shared_ptr<BoundFleet> fleet,
                   const std::optional<std::filesystem::path>& initial,
                   const std::optional<std::filesystem::path>& folder)
    : fleet_(std::move(fleet)), run_(config, *fleet_->fleet) {
  if (initial) run_.set_weights(weights_from(load_safetensors(*initial), run_.model(), initial->string()));
  if (!folder) return;
  Provenance now = provenance_now(config, *fleet_->fleet, fleet_->workers);
  if (initial) now.initial = initial_weights_file(*initial);
  writer_.emplace(RunWriter::begin(*folder, run_, now));
  events_.emplace(*folder, writer_->log());
}

BoundRun::BoundRun(const Config& config, std::shared_ptr<BoundFleet> fleet, RunWriter writer,
                   const Provenance& before)
    : fleet_(std::move(fleet)), run_(config, *fleet_->fleet), writer_(std::move(writer)) {
  Provenance now = provenance_now(config, *fleet_->fleet, fleet_->workers);
  now.initial = before.initial;
  warning_ = other_workers(before, now);
  bytes_ = writer_->restore(run_, now);
  events_.emplace(writer_->folder(), writer_->log());
}

std::vector<RoundObserver*> BoundRun::writers() {
  if (!writer_) return {};
  return {&*writer_, &*events_};
}

RoundRecord BoundRun::step() {
  const std::lock_guard lock(fleet_->in_use);
  const RoundRecord record = train_round(run_, writers());
  bytes_ += record.bytes_down + record.bytes_up;
  return record;
}

Evaluation BoundRun::evaluate() {
  const std::lock_guard lock(fleet_->in_use);
  return run_.evaluate();
}

void BoundRun::set_weights(std::span<const float> weights) {
  const std::lock_guard lock(fleet_->in_use);
  run_.set_weights(weights);
  if (writer_) writer_->checkpoint(run_);  // what is resumed has them too
}

bool BoundRun::train(bool progress, RoundObserver* more, const std::function<bool()>& stop) {
  const std::lock_guard lock(fleet_->in_use);
  Progress bar(stdout, Progress::detect(stdout, !progress),
               {.rounds = run_.config().run.rounds,
                .start_round = run_.round(),
                .unicode = look_at_terminal(stdout).unicode,
                .width = {}});
  RoundProgress shown(bar, bytes_);
  std::vector<RoundObserver*> observers = writers();
  observers.push_back(&shown);
  if (more != nullptr) observers.push_back(more);
  const bool complete = subfleet::train(run_, observers, stop);
  bar.finish();
  finish();
  return complete;
}

void BoundRun::finish() {
  const std::lock_guard lock(fleet_->in_use);
  if (!writer_) return;
  writer_->finish(run_);
  write_run_page(writer_->folder());
}

}  // namespace subfleet::python
