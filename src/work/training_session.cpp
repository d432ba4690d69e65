#include "subfleet/work/training_session.h"

#include <utility>
#include <vector>

#include "subfleet/page/page.h"
#include "subfleet/safetensors.h"
#include "subfleet/store/session.h"

namespace subfleet {

TrainingSession::TrainingSession(const Config& config, Fleet& fleet, Provenance now,
                                 const std::optional<std::filesystem::path>& initial)
    : run_(config, fleet), now_(std::move(now)) {
  if (!initial) return;
  run_.set_weights(weights_from(load_safetensors(*initial), run_.model(), initial->string()));
  now_.initial = initial_weights_file(*initial);
}

TrainingSession::TrainingSession(const Config& config, Fleet& fleet, Provenance now, RunWriter folder)
    : run_(config, fleet), now_(std::move(now)), writer_(std::move(folder)) {
  bytes_ = writer_->restore(run_, now_);
  events_.emplace(writer_->folder(), writer_->log());
}

void TrainingSession::begin_with(std::span<const float> weights) {
  run_.set_weights(weights);
  now_.initial = initial_weights_array(weights);
}

void TrainingSession::write_to(const std::filesystem::path& folder) {
  writer_.emplace(RunWriter::begin(folder, run_, now_));
  events_.emplace(folder, writer_->log());
}

std::optional<std::filesystem::path> TrainingSession::folder() const {
  return writer_ ? std::optional(writer_->folder()) : std::nullopt;
}

bool TrainingSession::train(std::span<RoundObserver* const> observers, const std::function<bool()>& stop) {
  std::vector<RoundObserver*> all{this};
  all.insert(all.end(), observers.begin(), observers.end());
  const bool complete = subfleet::train(run_, all, stop);
  finish();
  return complete;
}

RoundRecord TrainingSession::step() {
  RoundObserver* const self = this;
  return train_round(run_, {&self, 1});
}

void TrainingSession::set_weights(std::span<const float> weights) {
  run_.set_weights(weights);
  if (writer_) writer_->replace_weights(run_);
}

void TrainingSession::finish() {
  if (!writer_) return;
  writer_->finish(run_);
  write_run_page(writer_->folder());
}

void TrainingSession::close() {
  events_.reset();
  writer_.reset();
}

void TrainingSession::round_done(Run& run, const RoundRecord& record) {
  bytes_ += record.bytes_down + record.bytes_up;
  if (!writer_) return;
  writer_->round_done(run, record);
  events_->round_done(run, record);
}

}  // namespace subfleet
