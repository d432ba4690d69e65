#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace subfleet::cli {

// --device and --precision: which trainer does the arithmetic.
struct DeviceOptions {
  std::string device = {}, precision = {};  // empty: not given

  // `otherwise` is the device if none is given: "cpu".
  void add_to(CLI::App& command, const std::string& otherwise);

  // The trainer's name. If no device is given, it is `otherwise`, whose precision --precision can still
  // change. Throws Error if there is no such device, or if it does not compute in that precision.
  std::string trainer(const std::string& otherwise) const;
};

}  // namespace subfleet::cli
