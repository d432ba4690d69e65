#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "subfleet/error.h"

// What a harness defines. The driver calls try_input() over and over with what libFuzzer makes of the seeds.
namespace subfleet::fuzz {

// Inputs to begin with, most of them well-formed.
std::vector<std::string> seeds();

// Reads the input. Only Error may escape; expect() checks what it was read as.
void try_input(std::string_view input);

// Ends the process with a finding unless the law holds.
void expect(bool holds, std::string_view law);

// The result of work that must not throw, such as reading what was just written.
auto must_work(const auto& work) {
  try {
    return work();
  } catch (const Error& error) {
    expect(false, error.what());
    throw;
  }
}

}  // namespace subfleet::fuzz
