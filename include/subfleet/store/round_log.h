#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "subfleet/run.h"

namespace subfleet {

// A run folder's rounds.jsonl has one line per round. A number that is not finite is written as null and read
// back as NaN.

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
