#include "subfleet/report/csv.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <optional>

namespace subfleet {
namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string all = "\"";
  for (const char letter : text) all += letter == '"' ? std::string("\"\"") : std::string(1, letter);
  return all + "\"";
}

std::string number(std::optional<double> value) {
  return value && std::isfinite(*value) ? fmt::format("{}", *value) : "";
}

}  // namespace

std::string report_csv(std::span<const ReportedRun> runs) {
  std::string text(kCsvHead);
  for (const ReportedRun& run : runs) {
    const std::string who =
        fmt::format("{},{},{},{}", quoted(run.name), run.seed ? fmt::format("{}", *run.seed) : "",
                    quoted(run.family), number(run.keep));
    uint64_t bytes = run.search_bytes;
    for (const RoundRecord& record : run.rounds) {
      bytes += record.bytes_down + record.bytes_up;
      if (!record.test_accuracy) continue;
      fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{}\n", who, record.round, bytes,
                     number(record.test_accuracy), number(record.train_accuracy_median),
                     number(record.test_loss), number(record.train_loss));
    }
  }
  return text;
}

}  // namespace subfleet
