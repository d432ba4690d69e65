#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace subfleet {

// One line of a run folder's rounds.jsonl. A number that is not finite is written as null and read back as
// NaN.
struct RoundRecord {
  uint32_t round = 0;       // counted from 1
  uint64_t bytes_down = 0;  // from the server to the clients, this round
  uint64_t bytes_up = 0;    // back, this round
  double train_loss = 0;    // mean over the round's clients
  double train_accuracy_median = 0;
  double seconds = 0;     // wall time of the round
  uint32_t diverged = 0;  // clients left out because their training gave non-finite numbers
  std::optional<double> test_accuracy = std::nullopt, test_loss = std::nullopt;  // where it was evaluated
};

// Sums of bytes are at most this, so that a few of them can be added.
inline constexpr uint64_t kMostBytes = uint64_t{1} << 62;

// The record as JSON in one line, newline included. Doubles read back to the same bits.
std::string to_json_line(const RoundRecord& record);

// The records of a whole log; `name` is for the errors. A last line without its newline that cannot be read
// is what a crash leaves, and is passed over; any other line that cannot be read is an Error naming the line:
// an accuracy that is no fraction, say, or more than kMostBytes in all. A round that comes again, in a run
// that was resumed from an earlier round, replaces what stood from there on.
std::vector<RoundRecord> parse_round_log(std::string_view text, std::string_view name);
std::vector<RoundRecord> read_round_log(const std::filesystem::path& path);

}  // namespace subfleet
