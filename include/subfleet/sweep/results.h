#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "subfleet/results/run_measures.h"
#include "subfleet/results/statistics.h"
#include "subfleet/run.h"
#include "subfleet/sweep/plan.h"

namespace subfleet {

// A run with one seed.
struct SeedResult {
  uint64_t seed = 0;
  bool diverged = false;
  uint32_t rounds = 0;
  uint64_t bytes = 0;
  std::optional<double> accuracy;           // at the end; empty if it diverged or was never tested
  std::optional<double> target;             // the accuracy to reach; empty without a baseline's
  std::optional<uint64_t> bytes_to_target;  // empty: not reached
  std::vector<SmoothedTest> tests;
};

// A run over its seeds. Comparisons with the baseline are over the seeds that both have.
struct RunResult {
  std::string name;
  bool drawn = true;
  std::vector<SeedResult> seeds;       // the seeds whose run is over
  std::optional<Estimate> accuracy;    // at the end
  std::optional<Estimate> difference;  // to the baseline's, of the same seed
  double bytes_per_round = 0;
  std::optional<double> times_fewer;         // bytes per round than the baseline
  size_t targets = 0, reached = 0;           // seeds that have one, and that reached it
  std::optional<Estimate> bytes_to_target;   // of those that reached it
  std::optional<double> target_times_fewer;  // bytes to the target than the baseline
};

struct SweepResults {
  std::string title;
  double target = 0;
  std::optional<uint32_t> last_rounds;
  std::optional<size_t> baseline;
  std::vector<RunResult> runs;        // as planned
  std::vector<std::string> trainers;  // "subfleet 0.1.0 on cuda": all that worked on it
};

// The rounds of a run with one seed; empty while it is not over.
using RoundLog = std::optional<std::vector<RoundRecord>>;

// logs[run][seed], in the plan's order.
SweepResults sweep_results(const SweepPlan& plan, const std::vector<std::vector<RoundLog>>& logs);

// Whether there are runs that are over, and every one of them diverged.
bool all_diverged(const SweepResults& results);

}  // namespace subfleet
