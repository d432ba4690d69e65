#include "subfleet/results/run_measures.h"

#include <algorithm>
#include <cmath>

#include "subfleet/store/run_writer.h"

namespace subfleet {
namespace {

constexpr size_t kSmoothed = 5;  // tests in a mean

bool evaluated(const RoundRecord& record) {
  return record.test_accuracy && std::isfinite(*record.test_accuracy);
}

}  // namespace

bool is_diverged(const RoundRecord& record) { return !std::isfinite(record.train_loss); }

bool has_diverged(const RunSummary& run) { return !run.rounds.empty() && is_diverged(run.rounds.back()); }

bool is_over(const RunSummary& run) { return has_diverged(run) || RunWriter::is_finished(run.folder); }

std::vector<SmoothedTest> tests_of(std::span<const RoundRecord> log) {
  std::vector<SmoothedTest> tests;
  uint64_t bytes = 0;
  for (const RoundRecord& record : log) {
    bytes += record.bytes_down + record.bytes_up;
    if (!evaluated(record)) continue;
    tests.push_back({.round = record.round, .bytes = bytes, .accuracy = *record.test_accuracy});
    const size_t count = std::min(tests.size(), kSmoothed);
    double sum = 0;
    for (size_t i = tests.size() - count; i < tests.size(); ++i) sum += tests[i].accuracy;
    tests.back().smoothed = sum / static_cast<double>(count);
  }
  return tests;
}

std::optional<uint64_t> bytes_until_mean_reaches(std::span<const SmoothedTest> tests, double accuracy) {
  for (size_t i = kSmoothed - 1; i < tests.size(); ++i) {
    if (tests[i].smoothed >= accuracy) return tests[i].bytes;
  }
  return std::nullopt;
}

std::optional<double> final_accuracy(const RunSummary& run) {
  const auto last = std::find_if(run.rounds.rbegin(), run.rounds.rend(), evaluated);
  return last == run.rounds.rend() ? std::nullopt : last->test_accuracy;
}

std::optional<double> best_accuracy(const RunSummary& run) {
  std::optional<double> best;
  for (const auto& record : run.rounds) {
    if (evaluated(record) && (!best || *record.test_accuracy > *best)) best = record.test_accuracy;
  }
  return best;
}

uint64_t bytes_down(const RunSummary& run) {
  uint64_t sum = 0;
  for (const auto& record : run.rounds) sum += record.bytes_down;
  return sum;
}

uint64_t bytes_up(const RunSummary& run) {
  uint64_t sum = 0;
  for (const auto& record : run.rounds) sum += record.bytes_up;
  return sum;
}

uint64_t bytes_total(const RunSummary& run) { return bytes_down(run) + bytes_up(run) + run.search_bytes; }

std::optional<uint64_t> bytes_until_test_reaches(const RunSummary& run, double accuracy) {
  uint64_t sum = run.search_bytes;
  for (const auto& record : run.rounds) {
    sum += record.bytes_down + record.bytes_up;
    if (evaluated(record) && *record.test_accuracy >= accuracy) return sum;
  }
  return std::nullopt;
}

std::optional<double> accuracy_at(const RunSummary& run, uint64_t bytes) {
  std::optional<double> accuracy;
  uint64_t sum = run.search_bytes, sum_at_test = 0;
  for (const auto& record : run.rounds) {
    sum += record.bytes_down + record.bytes_up;
    if (!evaluated(record)) continue;
    if (sum > bytes) {
      if (!accuracy) return std::nullopt;
      const double way = static_cast<double>(bytes - sum_at_test) / static_cast<double>(sum - sum_at_test);
      return std::lerp(*accuracy, *record.test_accuracy, way);
    }
    accuracy = record.test_accuracy;
    sum_at_test = sum;
  }
  return accuracy;
}

std::optional<uint64_t> bytes_at_last_test(const RunSummary& run) {
  std::optional<uint64_t> last;
  uint64_t sum = run.search_bytes;
  for (const auto& record : run.rounds) {
    sum += record.bytes_down + record.bytes_up;
    if (evaluated(record)) last = sum;
  }
  return last;
}

}  // namespace subfleet
