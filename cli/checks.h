#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

namespace subfleet::cli {

// A whole number in this range, written in digits.
CLI::Validator whole_number(uint64_t low, uint64_t high);

// Not the empty text that an unset shell variable leaves.
CLI::Validator not_empty();

}  // namespace subfleet::cli
