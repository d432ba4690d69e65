#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "subfleet/store/run_folder.h"

// Logs of which a test says what each round's test found.
namespace subfleet {

// A run whose rounds have these tests.
inline RunSummary run_with(const std::vector<std::optional<double>>& accuracies,
                           uint64_t bytes_each_way = 10) {
  RunSummary run;
  for (const auto& accuracy : accuracies) {
    RoundRecord record;
    record.round = static_cast<uint32_t>(run.rounds.size() + 1);
    record.bytes_down = record.bytes_up = bytes_each_way;
    record.test_accuracy = accuracy;
    run.rounds.push_back(record);
  }
  return run;
}

// Rounds of 10 bytes each way, every one tested.
inline std::vector<RoundRecord> log_of(const std::vector<double>& accuracies, uint64_t bytes = 10) {
  std::vector<RoundRecord> log;
  for (const double accuracy : accuracies) {
    log.push_back({.round = static_cast<uint32_t>(log.size() + 1),
                   .bytes_down = bytes,
                   .bytes_up = bytes,
                   .train_loss = 1,
                   .test_accuracy = accuracy});
  }
  return log;
}

}  // namespace subfleet
