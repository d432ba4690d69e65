#include "subfleet/sweep/results.h"

#include <algorithm>
#include <numeric>

namespace subfleet {
namespace {

// The mean of all tests in the last rounds.
std::optional<double> accuracy_at_end(std::span<const SmoothedTest> tests, uint32_t rounds,
                                      uint32_t last_rounds) {
  const uint32_t before = rounds - std::min(rounds, last_rounds);
  double sum = 0, count = 0;
  for (const SmoothedTest& test : tests) {
    if (test.round <= before) continue;
    sum += test.accuracy;
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional(sum / count);
}

SeedResult seed_result(uint64_t seed, std::span<const RoundRecord> log, std::optional<uint32_t> last_rounds) {
  SeedResult result;
  result.seed = seed;
  result.tests = tests_of(log);
  if (log.empty()) return result;
  result.diverged = is_diverged(log.back());
  result.rounds = log.back().round;
  for (const RoundRecord& record : log) result.bytes += record.bytes_down + record.bytes_up;
  constexpr uint32_t kPart = 4;
  if (!result.diverged) {
    result.accuracy = accuracy_at_end(result.tests, result.rounds,
                                      last_rounds.value_or(std::max(1u, result.rounds / kPart)));
  }
  return result;
}

const SeedResult* find_seed(const RunResult& run, uint64_t seed) {
  const auto found = std::ranges::find(run.seeds, seed, &SeedResult::seed);
  return found == run.seeds.end() ? nullptr : &*found;
}

void set_targets(RunResult& run, const RunResult& baseline, double target) {
  for (SeedResult& result : run.seeds) {
    const SeedResult* other = find_seed(baseline, result.seed);
    if (other == nullptr || !other->accuracy) continue;
    result.target = target * *other->accuracy;
    result.bytes_to_target = bytes_until_mean_reaches(result.tests, *result.target);
  }
}

double ratio_of_sums(const std::vector<double>& above, const std::vector<double>& below) {
  return std::accumulate(above.begin(), above.end(), 0.0) / std::accumulate(below.begin(), below.end(), 0.0);
}

// The figures over all seeds.
void summarise(RunResult& run) {
  std::vector<double> accuracies, bytes;
  double all_bytes = 0, rounds = 0;
  for (const SeedResult& result : run.seeds) {
    if (result.accuracy) accuracies.push_back(*result.accuracy);
    all_bytes += static_cast<double>(result.bytes);
    rounds += result.rounds;
    run.targets += result.target ? 1 : 0;
    if (result.bytes_to_target) bytes.push_back(static_cast<double>(*result.bytes_to_target));
  }
  run.accuracy = estimate(accuracies);
  run.bytes_per_round = rounds == 0 ? 0 : all_bytes / rounds;
  run.reached = bytes.size();
  run.bytes_to_target = estimate(bytes);
}

// The figures beside the baseline's, over the seeds where both have one.
void compare(RunResult& run, const RunResult& baseline) {
  std::vector<double> differences, own_bytes, baseline_bytes;
  for (const SeedResult& result : run.seeds) {
    const SeedResult* other = find_seed(baseline, result.seed);
    if (other == nullptr) continue;
    if (result.accuracy && other->accuracy) differences.push_back(*result.accuracy - *other->accuracy);
    if (result.bytes_to_target && other->bytes_to_target) {
      own_bytes.push_back(static_cast<double>(*result.bytes_to_target));
      baseline_bytes.push_back(static_cast<double>(*other->bytes_to_target));
    }
  }
  run.difference = estimate(differences);
  if (run.bytes_per_round > 0 && baseline.bytes_per_round > 0)
    run.times_fewer = baseline.bytes_per_round / run.bytes_per_round;
  if (!own_bytes.empty()) run.target_times_fewer = ratio_of_sums(baseline_bytes, own_bytes);
}

}  // namespace

SweepResults sweep_results(const SweepPlan& plan, const std::vector<std::vector<RoundLog>>& logs) {
  SweepResults results{.title = plan.title,
                       .target = plan.target,
                       .last_rounds = plan.last_rounds,
                       .baseline = plan.baseline,
                       .runs = {},
                       .trainers = {}};
  for (size_t run = 0; run < plan.runs.size(); ++run) {
    RunResult& result = results.runs.emplace_back();
    result.name = plan.runs[run].name;
    result.drawn = plan.runs[run].drawn;
    for (size_t i = 0; i < plan.seeds.size(); ++i) {
      if (logs[run][i]) result.seeds.push_back(seed_result(plan.seeds[i], *logs[run][i], plan.last_rounds));
    }
  }
  if (plan.baseline) {
    for (RunResult& run : results.runs) set_targets(run, results.runs[*plan.baseline], plan.target);
  }
  for (RunResult& run : results.runs) summarise(run);
  if (plan.baseline) {
    for (RunResult& run : results.runs) compare(run, results.runs[*plan.baseline]);
  }
  return results;
}

bool all_diverged(const SweepResults& results) {
  size_t over = 0;
  for (const RunResult& run : results.runs) {
    if (!std::ranges::all_of(run.seeds, &SeedResult::diverged)) return false;
    over += run.seeds.size();
  }
  return over > 0;
}

}  // namespace subfleet
