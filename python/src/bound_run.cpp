#include <array>
#include <chrono>
#include <cstdio>
#include <utility>

#include "run.h"
#include "subfleet/error.h"
#include "subfleet/report/progress.h"
#include "subfleet/report/round_progress.h"
#include "subfleet/report/terminal.h"
#include "subfleet/trainer.h"

namespace subfleet::python {

// Keeps the records of a run that trains.
class BoundRun::RecordKeeper final : public RoundObserver {
 public:
  explicit RecordKeeper(BoundRun& run) : run_(run) {}
  void round_done(Run&, const RoundRecord& record) override { run_.keep(record); }

 private:
  BoundRun& run_;
};

BoundRun::BoundRun(const Config& config, std::shared_ptr<BoundFleet> fleet,
                   const std::optional<std::filesystem::path>& initial_file,
                   std::span<const float> initial_weights, const std::optional<std::filesystem::path>& folder)
    : fleet_(std::move(fleet)),
      session_(config, *fleet_->fleet, provenance_now(config, *fleet_->fleet, fleet_->workers),
               initial_file) {
  if (!initial_weights.empty()) session_.begin_with(initial_weights);
  if (folder) session_.write_to(std::filesystem::absolute(*folder));
  folder_ = session_.folder();
}

BoundRun::BoundRun(const Config& config, std::shared_ptr<BoundFleet> fleet, RunWriter writer,
                   const Provenance& before)
    : fleet_(std::move(fleet)),
      session_(config, *fleet_->fleet, provenance_now(config, *fleet_->fleet, fleet_->workers),
               std::move(writer)) {
  folder_ = session_.folder();
  records_ = RunWriter::log(*folder_);
  warning_ = other_workers(before, session_.now());
}

void BoundRun::check_open() const {
  if (closed_) throw bad_request("run", "is closed; go on with its folder by Run.resume");
}

// Runs of one fleet take turns.
std::unique_lock<std::recursive_timed_mutex> BoundRun::turn(const std::atomic<bool>& flag) {
  std::unique_lock lock(fleet_->in_use, std::defer_lock);
  while (!lock.try_lock_for(std::chrono::milliseconds(100))) {
    if (flag) throw Interrupted();
  }
  run().stop_on(flag);
  return lock;
}

void BoundRun::keep(const RoundRecord& record) {
  const std::lock_guard lock(keeping_);
  records_.push_back(record);
}

std::vector<RoundRecord> BoundRun::records() const {
  const std::lock_guard lock(keeping_);
  return records_;
}

RoundRecord BoundRun::step(const std::atomic<bool>& flag) {
  const auto lock = turn(flag);
  check_open();
  const RoundRecord record = session_.step();
  keep(record);
  return record;
}

Evaluation BoundRun::evaluate(std::optional<uint32_t> client, const std::atomic<bool>& flag) {
  const auto lock = turn(flag);
  return client ? run().evaluate(*client) : run().evaluate();
}

void BoundRun::set_weights(std::span<const float> weights, const std::atomic<bool>& flag) {
  const auto lock = turn(flag);
  check_open();
  session_.set_weights(weights);
}

bool BoundRun::train(bool progress, RoundObserver& more, const std::function<bool()>& stop,
                     const std::atomic<bool>& flag) {
  const auto lock = turn(flag);
  check_open();
  Progress bar(stdout, Progress::detect(stdout, !progress),
               {.rounds = run().config().run.rounds,
                .start_round = run().round(),
                .unicode = look_at_terminal(stdout).unicode,
                .width = {}});
  RoundProgress shown(bar, session_.bytes());
  RecordKeeper kept(*this);
  const std::array<RoundObserver*, 3> observers{&kept, &shown, &more};
  return session_.train(observers, [&] { return closed_ || stop(); });
}

void BoundRun::finish(const std::atomic<bool>& flag) {
  const auto lock = turn(flag);
  check_open();
  session_.finish();
}

void BoundRun::close(const std::atomic<bool>& flag) {
  const auto lock = turn(flag);
  session_.close();
  closed_ = true;
}

}  // namespace subfleet::python
