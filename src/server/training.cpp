#include "subfleet/training.h"

#include "subfleet/base/stopwatch.h"

namespace subfleet {

void measure_round(Run& run, RoundRecord& record, double seconds) {
  const Stopwatch watch;
  const RunOptions& options = run.config().run;
  const bool done = run.round() == record.round;  // or it diverged
  if (done && (record.round == options.rounds || record.round % options.eval_every == 0)) {
    const Evaluation evaluation = run.evaluate();
    if (evaluation.examples > 0) {
      record.test_accuracy = evaluation.accuracy();
      record.test_loss = evaluation.mean_loss();
    }
  }
  record.seconds = seconds + watch.seconds();
}

RoundRecord train_round(Run& run, std::span<RoundObserver* const> observers) {
  const Stopwatch watch;
  RoundRecord record = run.step();
  measure_round(run, record, watch.seconds());
  for (RoundObserver* observer : observers) observer->round_done(run, record);
  return record;
}

bool train(Run& run, std::span<RoundObserver* const> observers, const std::function<bool()>& stop) {
  while (run.round() < run.config().run.rounds) {
    if (stop()) return false;
    train_round(run, observers);
  }
  return true;
}

}  // namespace subfleet
