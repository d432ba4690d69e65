#include "subfleet/reproduce/experiment_result.h"

#include <algorithm>

#include "reproduce/facts.h"

namespace subfleet {
namespace {

// A fact of the value's run, or of the only one.
Estimate fact_of(const ExpectedValue& value, const SweepPlan& plan) {
  const auto run = std::ranges::find(plan.runs, value.run, &SweepRun::name);
  return {fact(value, run == plan.runs.end() ? plan.runs[0].config : run->config), std::nullopt, 1};
}

}  // namespace

ExperimentResult experiment_result(const Experiment& experiment, const Pool& pool) {
  ExperimentResult result;
  result.experiment = &experiment;
  result.results.resize(experiment.values.size());
  const bool facts = experiment.kind == ExperimentKind::kFacts;
  for (size_t reading = 0; reading < experiment.readings.size(); ++reading) {
    if (!facts) result.measured.push_back(pool.measured(experiment, reading));
    for (size_t i = 0; i < experiment.values.size(); ++i) {
      const ExpectedValue& value = experiment.values[i];
      const std::optional<Estimate> ours = facts ? fact_of(value, experiment.plans[reading])
                                                 : measure(value, experiment.kind, result.measured.back());
      const bool one_seed = !facts && ours && ours->count == 1;  // which says nothing of the next
      result.results[i].push_back({ours, one_seed ? Verdict::kNothingToCompare : compare(value, ours)});
    }
  }
  result.trainers = pool.trainers(experiment);
  return result;
}

std::vector<Agreement> agreements(const ExperimentResult& result) {
  std::vector<Agreement> all;
  for (size_t reading = 0; reading < result.experiment->readings.size(); ++reading) {
    Agreement& one = all.emplace_back(Agreement{.reading = result.experiment->readings[reading]});
    for (const auto& value : result.results) {
      if (value[reading].verdict == Verdict::kNothingToCompare) continue;
      ++one.compared;
      one.agree += value[reading].verdict == Verdict::kAgrees ? 1 : 0;
    }
  }
  return all;
}

}  // namespace subfleet
