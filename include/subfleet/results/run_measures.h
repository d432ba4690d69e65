#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "subfleet/run.h"
#include "subfleet/store/run_folder.h"

// What the log of a run says about it. A round counts as tested if its test accuracy is a finite number.
namespace subfleet {

// Whether this round's training loss is no longer finite: the run cannot learn on, and ends here.
bool is_diverged(const RoundRecord& record);
bool has_diverged(const RunSummary& run);
// Whether it has diverged or, by its folder, is finished.
bool is_over(const RunSummary& run);

// Test accuracy of the last tested round, and the highest of all; empty if no round was tested.
std::optional<double> final_accuracy(const RunSummary& run);
std::optional<double> best_accuracy(const RunSummary& run);

uint64_t bytes_down(const RunSummary& run);
uint64_t bytes_up(const RunSummary& run);
uint64_t bytes_total(const RunSummary& run);  // both ways, and the search before it

// One test of a run.
struct SmoothedTest {
  uint32_t round = 0;
  uint64_t bytes = 0;  // exchanged by then, both ways, without a search
  double accuracy = 0;
  double smoothed = 0;  // the mean of this test and up to four before it
};
std::vector<SmoothedTest> tests_of(std::span<const RoundRecord> log);

// There are two answers to how many bytes it takes to reach an accuracy. Neither is interpolated: the bytes
// were spent before a test showed the accuracy. Both are empty if it was not reached.
//
// For reports of runs: the first test that reaches it. A single lucky test suffices. The bytes of the search
// before the run count.
std::optional<uint64_t> bytes_until_test_reaches(const RunSummary& run, double accuracy);
// For sweeps and reproductions: the first test at which the mean of five tests, no fewer, reaches it. A lucky
// test does not suffice. The bytes of a search do not count.
std::optional<uint64_t> bytes_until_mean_reaches(std::span<const SmoothedTest> tests, double accuracy);

// The test accuracy after that many bytes, both ways and in the search: interpolated linearly between the
// tests before and after, as charts draw it. After the last test it is that test's accuracy; before the first
// it is empty.
std::optional<double> accuracy_at(const RunSummary& run, uint64_t bytes);

// Exchanged by the last test, both ways and in the search; empty if the run was never tested.
std::optional<uint64_t> bytes_at_last_test(const RunSummary& run);

}  // namespace subfleet
