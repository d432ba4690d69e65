#include "subfleet/training.h"

#include <optional>
#include <vector>

#include "subfleet/base/stopwatch.h"
#include "subfleet/trainer.h"

namespace subfleet {
namespace {

bool is_tested(const RunOptions& options, uint32_t round) {
  return round == options.rounds || round % options.eval_every == 0;
}

// A run between two rounds, to go back to.
class RunSnapshot {
 public:
  explicit RunSnapshot(const Run& run)
      : round_(run.round()), weights_(run.weights().begin(), run.weights().end()) {
    for (const Moment& moment : run.moments())
      moments_.emplace_back(moment.values.begin(), moment.values.end());
  }
  void restore(Run& run) const { run.restore(round_, weights_, moments_); }

 private:
  uint32_t round_;
  std::vector<float> weights_;
  std::vector<std::vector<float>> moments_;
};

}  // namespace

void measure_round(Run& run, RoundRecord& record, double seconds) {
  const Stopwatch watch;
  const RunOptions& options = run.config().run;
  const bool done = run.round() == record.round;  // or it diverged
  if (done && is_tested(options, record.round)) {
    const Evaluation evaluation = run.evaluate();
    if (evaluation.examples > 0) {
      record.test_accuracy = evaluation.accuracy();
      record.test_loss = evaluation.mean_loss();
    }
    for (const auto& [name, metric] : metrics_of(run.config()))
      record.metrics.emplace_back(name, metric(run));
  }
  record.seconds = seconds + watch.seconds();
}

RoundRecord train_round(Run& run, std::span<RoundObserver* const> observers) {
  const Stopwatch watch;
  std::optional<RunSnapshot> before;  // a test that is stopped takes its round with it
  if (run.can_be_stopped() && is_tested(run.config().run, run.round() + 1)) before.emplace(run);
  RoundRecord record = run.step();
  try {
    measure_round(run, record, watch.seconds());
  } catch (const Interrupted&) {
    if (before) before->restore(run);
    throw;
  }
  for (RoundObserver* observer : observers) observer->round_done(run, record);
  return record;
}

bool train(Run& run, std::span<RoundObserver* const> observers, const std::function<bool()>& stop) {
  while (run.round() < run.config().run.rounds) {
    if (stop()) return false;
    try {
      train_round(run, observers);
    } catch (const Interrupted&) {  // `stop` says what now
    }
  }
  return true;
}

}  // namespace subfleet
