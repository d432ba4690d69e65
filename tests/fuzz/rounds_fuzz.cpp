#include <limits>

#include "fuzz.h"
#include "subfleet/store/round_log.h"

namespace subfleet::fuzz {
namespace {

std::string written(const std::vector<RoundRecord>& records) {
  std::string text;
  for (const RoundRecord& record : records) text += to_json_line(record);
  return text;
}

}  // namespace

std::vector<std::string> seeds() {
  const RoundRecord first{.round = 1, .bytes_down = 5, .bytes_up = 6, .train_loss = 4.1};
  const RoundRecord second{.round = 2,
                           .bytes_down = kMostBytes - 20,
                           .train_loss = std::numeric_limits<double>::quiet_NaN(),
                           .train_accuracy_median = 0.5,
                           .seconds = 1e-7,
                           .test_accuracy = 0.25,
                           .test_loss = 1e300,
                           .train_accuracies = Quartiles{0, 0.25, 0.5, 0.75, 1}};
  return {written({first}), written({first, second}), written({first, second, first}) + "{\"round\":"};
}

void try_input(std::string_view input) {
  const std::vector<RoundRecord> records = parse_round_log(input, "log");
  uint64_t bytes = 0;
  uint32_t round = 0;
  for (const RoundRecord& record : records) {
    expect(records.front().round == record.round || record.round > round, "rounds ascend");
    round = record.round;
    bytes += record.bytes_down + record.bytes_up;
    expect(bytes <= kMostBytes, "sums of bytes do not wrap");
    expect(!record.test_accuracy || !(*record.test_accuracy > 1), "accuracies are fractions");
  }
  const std::string text = written(records);
  expect(must_work([&] { return written(parse_round_log(text, "again")); }) == text,
         "what is read and written reads back the same");
}

}  // namespace subfleet::fuzz
