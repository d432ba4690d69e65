#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>

// Runs that differ in little but their seeds, made side by side.
namespace subfleet::cli {

// --together: how many at once.
struct TogetherOption {
  size_t given = 0;  // 0: not

  void add_to(CLI::App& command);
  // A GPU has too little to do with the clients of one round; a processor does not gain.
  size_t runs(const std::string& device) const {
    constexpr size_t kOnGpu = 5;
    if (given != 0) return given;
    return device.starts_with("cuda") ? kOnGpu : 1;
  }
};

}  // namespace subfleet::cli
