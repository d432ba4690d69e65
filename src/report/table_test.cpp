#include "subfleet/report/table.h"

#include <gtest/gtest.h>

#include <array>

#include "tested_log.h"

namespace subfleet {
namespace {

ReportedRun tested(const std::vector<std::optional<double>>& accuracies, uint64_t bytes_each_way = 10) {
  ReportedRun run;
  static_cast<RunSummary&>(run) = run_with(accuracies, bytes_each_way);
  return run;
}

TEST(Comparison, BytesAreThoseAllRunsHaveATestFor) {
  std::array runs{tested({0.2, 0.8}, 100), tested({0.1, 0.3, 0.5, std::nullopt}), tested({std::nullopt})};
  EXPECT_EQ(compare_runs(runs).bytes, 60U);
  runs[1].search_bytes = 500;
  EXPECT_EQ(compare_runs(runs).bytes, 400U);
  EXPECT_EQ(compare_runs(std::array{tested({})}).bytes, std::nullopt);
}

TEST(Comparison, AccuracyIsAWholePercentageThatAllRunsReach) {
  const std::array runs{tested({0.2, 0.866}), tested({0.858, 0.84}), tested({std::nullopt})};
  EXPECT_EQ(compare_runs(runs).accuracy, 0.85);
  for (int percent = 1; percent <= 100; ++percent) {
    const Comparison one = compare_runs(std::array{tested({percent / 100.0})});
    EXPECT_EQ(one.accuracy, percent / 100.0);
    EXPECT_TRUE(one.rows[0].bytes_to_reach);
  }
  EXPECT_EQ(compare_runs(std::array{tested({0.004})}).accuracy, 0.004);
  EXPECT_EQ(compare_runs(std::array{tested({})}).accuracy, std::nullopt);
}

}  // namespace
}  // namespace subfleet
