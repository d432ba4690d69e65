#include "subfleet/report/csv.h"

#include <gtest/gtest.h>

#include <limits>

namespace subfleet {
namespace {

TEST(Csv, OneLinePerTestWithTheBytesUpToIt) {
  ReportedRun run;
  run.name = "a,\"b\"";
  run.family = "gold";
  run.keep = 0.5;
  run.seed = 18446744073709551615U;
  run.search_bytes = 1000;
  run.rounds = {{.round = 1, .bytes_down = 1, .bytes_up = 2},
                {.round = 2,
                 .bytes_down = 10,
                 .bytes_up = 20,
                 .train_loss = std::numeric_limits<double>::quiet_NaN(),
                 .train_accuracy_median = 0.25,
                 .test_accuracy = 0.1,
                 .test_loss = 2.5}};
  ReportedRun bare;
  bare.name = "bare";
  bare.rounds = {{.round = 1, .test_accuracy = 1}};
  EXPECT_EQ(report_csv(std::vector{run, bare}),
            std::string(kCsvHead) +
                "\"a,\"\"b\"\"\",18446744073709551615,gold,0.5,2,1033,0.1,0.25,2.5,\nbare,,,,1,0,1,0,,0\n");
}

}  // namespace
}  // namespace subfleet
