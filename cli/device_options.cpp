#include "device_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "checks.h"
#include "subfleet/error.h"
#include "subfleet/trainer.h"

namespace subfleet::cli {
namespace {

constexpr std::string_view kGpu = "cuda", kGpuTf32 = "cuda-tf32";

}  // namespace

void DeviceOptions::add_to(CLI::App& command, const std::string& otherwise) {
  command
      .add_option("--device", device,
                  fmt::format("what does the arithmetic: cpu, cuda (an NVIDIA GPU) or reference [{}]; "
                              "'subfleet devices' says which can be used here",
                              otherwise))
      ->check(not_empty())
      ->type_name("NAME");
  command
      .add_option(
          "--precision", precision,
          "of the GPU's large products: f32, or tf32, which rounds their factors to 10 bits (the same "
          "as --device cuda-tf32) [f32]")
      ->check(not_empty())
      ->type_name("f32|tf32");
}

std::string DeviceOptions::trainer(const std::string& otherwise) const {
  const std::string& chosen = device.empty() ? otherwise : device;
  const std::vector<std::string> known = device_names();
  if (std::ranges::find(known, chosen) == known.end()) throw unknown_name("device", chosen, known);
  if (precision.empty()) return chosen;
  if (precision == "f32") {
    if (chosen != kGpuTf32) return chosen;
    if (device.empty()) return std::string(kGpu);
    throw bad_request("--precision", "f32 is --device cuda; cuda-tf32 computes in tf32");
  }
  const std::array<std::string, 2> precisions{"f32", "tf32"};
  if (precision != "tf32") throw unknown_name("precision", precision, precisions);
  if (chosen == kGpu || chosen == kGpuTf32) return std::string(kGpuTf32);
  throw bad_request("--precision",
                    fmt::format("{} computes in f32 alone; tf32 goes with --device cuda", chosen));
}

}  // namespace subfleet::cli
