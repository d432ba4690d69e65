#include "subfleet/store/round_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "subfleet/base/file.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

using Json = nlohmann::ordered_json;

constexpr auto kQuartiles = "train_accuracy_quartiles", kMetrics = "metrics";

Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

struct Malformed {
  std::string why;
};

template <typename Count>
Count count_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) throw Malformed{fmt::format("'{}' is missing", key)};
  if (!found->is_number_unsigned() || found->get<uint64_t>() > std::numeric_limits<Count>::max()) {
    throw Malformed{fmt::format("'{}' is not a count", key)};
  }
  return found->get<Count>();
}

std::optional<double> number_if_there(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return std::nullopt;
  if (found->is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!found->is_number()) throw Malformed{fmt::format("'{}' is not a number", key)};
  return found->get<double>();
}

double number_at(const Json& object, const char* key) {
  const auto number = number_if_there(object, key);
  if (!number) throw Malformed{fmt::format("'{}' is missing", key)};
  return *number;
}

OutcomeCounts outcomes_at(const Json& object) {
  OutcomeCounts counts;
  for (const JobOutcome outcome : kJobOutcomes) {
    const std::string name(outcome_name(outcome));
    if (object.contains(name)) counts[outcome] = count_at<uint32_t>(object, name.c_str());
  }
  return counts;
}

// A fraction, or NaN.
double accuracy_of(double value, const char* key) {
  if (value < 0 || value > 1) throw Malformed{fmt::format("'{}' is {}, not 0 to 1", key, value)};
  return value;
}

std::optional<double> accuracy_if_there(const Json& object, const char* key) {
  const auto value = number_if_there(object, key);
  return value ? std::optional(accuracy_of(*value, key)) : std::nullopt;
}

std::vector<std::pair<std::string, double>> metrics_if_there(const Json& object) {
  std::vector<std::pair<std::string, double>> metrics;
  const auto found = object.find(kMetrics);
  if (found == object.end()) return metrics;
  if (!found->is_object()) throw Malformed{fmt::format("'{}' is not an object", kMetrics)};
  for (const auto& [name, value] : found->items())
    metrics.emplace_back(name, number_at(*found, name.c_str()));
  return metrics;
}

std::optional<Quartiles> quartiles_if_there(const Json& object) {
  const auto found = object.find(kQuartiles);
  if (found == object.end()) return std::nullopt;
  Quartiles quartiles{};
  if (!found->is_array() || found->size() != quartiles.size() ||
      !std::ranges::all_of(*found, [](const Json& value) { return value.is_number(); })) {
    throw Malformed{fmt::format("'{}' is not a list of {} numbers", kQuartiles, quartiles.size())};
  }
  for (size_t i = 0; i < quartiles.size(); ++i)
    quartiles[i] = accuracy_of((*found)[i].get<double>(), kQuartiles);
  return quartiles;
}

uint64_t add_bytes(uint64_t sum, uint64_t bytes) {
  if (bytes > kMostBytes - sum) throw Malformed{"the bytes exchanged up to here are more than any run's"};
  return sum + bytes;
}

RoundRecord parse_record(std::string_view line) {
  const Json object = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) throw Malformed{"it is not a JSON object"};
  return {.round = count_at<uint32_t>(object, "round"),
          .bytes_down = count_at<uint64_t>(object, "bytes_down"),
          .bytes_up = count_at<uint64_t>(object, "bytes_up"),
          .train_loss = number_at(object, "train_loss"),
          .train_accuracy_median =
              accuracy_of(number_at(object, "train_accuracy_median"), "train_accuracy_median"),
          .outcomes = outcomes_at(object),
          .seconds = number_at(object, "seconds"),
          .test_accuracy = accuracy_if_there(object, "test_accuracy"),
          .test_loss = number_if_there(object, "test_loss"),
          .train_accuracies = quartiles_if_there(object),
          .metrics = metrics_if_there(object),
          .server_rate = number_if_there(object, "server_rate"),
          .client_rate = number_if_there(object, "client_rate")};
}

}  // namespace

std::string to_json_line(const RoundRecord& record) {
  Json object = {{"round", record.round},
                 {"bytes_down", record.bytes_down},
                 {"bytes_up", record.bytes_up},
                 {"train_loss", finite_or_null(record.train_loss)},
                 {"train_accuracy_median", finite_or_null(record.train_accuracy_median)},
                 {"seconds", finite_or_null(record.seconds)}};
  for (const JobOutcome outcome : kJobOutcomes) {
    if (outcome == JobOutcome::kTrained || record.outcomes[outcome] > 0)
      object[std::string(outcome_name(outcome))] = record.outcomes[outcome];
  }
  if (record.test_accuracy) object["test_accuracy"] = finite_or_null(*record.test_accuracy);
  if (record.test_loss) object["test_loss"] = finite_or_null(*record.test_loss);
  if (record.train_accuracies) object[kQuartiles] = *record.train_accuracies;
  for (const auto& [name, value] : record.metrics) object[kMetrics][name] = finite_or_null(value);
  if (record.server_rate) object["server_rate"] = finite_or_null(*record.server_rate);
  if (record.client_rate) object["client_rate"] = finite_or_null(*record.client_rate);
  return object.dump() + "\n";
}

std::vector<RoundRecord> parse_round_log(std::string_view text, std::string_view name) {
  std::vector<RoundRecord> records;
  uint64_t bytes = 0;  // of all records
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    const bool whole = end != std::string_view::npos;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(whole ? end + 1 : text.size());
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    try {
      const RoundRecord record = parse_record(line);
      for (; !records.empty() && records.back().round >= record.round; records.pop_back()) {
        bytes -= records.back().bytes_down + records.back().bytes_up;
      }
      bytes = add_bytes(add_bytes(bytes, record.bytes_down), record.bytes_up);
      records.push_back(record);
    } catch (const Malformed& malformed) {
      if (!whole) break;
      throw bad_request(
          fmt::format("{}:{}", name, number),
          fmt::format("{}; a line is a record of one round such as {{\"round\":1,\"bytes_down\":...}}",
                      malformed.why));
    }
  }
  return records;
}

std::vector<RoundRecord> read_round_log(const std::filesystem::path& path) {
  return parse_round_log(read_file(path), path.string());
}

}  // namespace subfleet
