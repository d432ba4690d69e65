#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace subfleet::cli {

// --device and --precision: which trainer does the arithmetic.
struct DeviceOptions {
  std::string device = {}, precision = {};  // empty: not given

  // `otherwise` says which device it is where none is given: "cpu".
  void add_to(CLI::App& command, const std::string& otherwise);

  // The trainer's name; `otherwise` is the one where no device is given, whose precision may still be. Throws
  // Error if there is no such device, or it does not compute in that precision.
  std::string trainer(const std::string& otherwise) const;
};

}  // namespace subfleet::cli
