#include <array>
#include <cstdio>
#include <mutex>
#include <utility>

#include "run.h"
#include "subfleet/error.h"
#include "subfleet/report/progress.h"
#include "subfleet/report/round_progress.h"
#include "subfleet/report/terminal.h"
#include "threads.h"

namespace subfleet::python {
namespace {

class RecordKeeper final : public RoundObserver {
 public:
  explicit RecordKeeper(std::vector<RoundRecord>& records) : records_(records) {}
  void round_done(Run&, const RoundRecord& record) override { records_.push_back(record); }

 private:
  std::vector<RoundRecord>& records_;
};

}  // namespace

BoundRun::BoundRun(const Config& config, std::shared_ptr<BoundFleet> fleet,
                   const std::optional<std::filesystem::path>& initial,
                   const std::optional<std::filesystem::path>& folder)
    : fleet_(std::move(fleet)),
      session_(config, *fleet_->fleet, provenance_now(config, *fleet_->fleet, fleet_->workers), initial) {
  session_.run().stop_on(stop_asked());
  if (folder) session_.write_to(std::filesystem::absolute(*folder));
}

BoundRun::BoundRun(const Config& config, std::shared_ptr<BoundFleet> fleet, RunWriter writer,
                   const Provenance& before)
    : fleet_(std::move(fleet)),
      session_(config, *fleet_->fleet, provenance_now(config, *fleet_->fleet, fleet_->workers),
               std::move(writer)) {
  session_.run().stop_on(stop_asked());
  records_ = RunWriter::log(*session_.folder());
  warning_ = other_workers(before, session_.now());
}

void BoundRun::check_open() const {
  if (closed_) throw bad_request("run", "is closed; go on with its folder by Run.resume");
}

RoundRecord BoundRun::step() {
  const std::lock_guard lock(fleet_->in_use);
  check_open();
  records_.push_back(session_.step());
  return records_.back();
}

Evaluation BoundRun::evaluate() {
  const std::lock_guard lock(fleet_->in_use);
  return run().evaluate();
}

void BoundRun::set_weights(std::span<const float> weights) {
  const std::lock_guard lock(fleet_->in_use);
  check_open();
  session_.set_weights(weights);
}

bool BoundRun::train(bool progress, RoundObserver& more, const std::function<bool()>& stop) {
  const std::lock_guard lock(fleet_->in_use);
  check_open();
  Progress bar(stdout, Progress::detect(stdout, !progress),
               {.rounds = run().config().run.rounds,
                .start_round = run().round(),
                .unicode = look_at_terminal(stdout).unicode,
                .width = {}});
  RoundProgress shown(bar, session_.bytes());
  RecordKeeper kept(records_);
  const std::array<RoundObserver*, 3> observers{&kept, &shown, &more};
  return session_.train(observers, stop);
}

void BoundRun::finish() {
  const std::lock_guard lock(fleet_->in_use);
  check_open();
  session_.finish();
}

void BoundRun::close() {
  const std::lock_guard lock(fleet_->in_use);
  session_.close();
  closed_ = true;
}

}  // namespace subfleet::python
