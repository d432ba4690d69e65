#include "subfleet/base/version.h"

#include <fmt/format.h>

// CMakeLists.txt defines the SUBFLEET_ names; one that is empty was left out of the build.
namespace subfleet {
namespace {

std::string trainer(std::string_view name, std::string_view library) {
  return library.empty() ? fmt::format("no {}", name) : fmt::format("{} ({})", name, library);
}

std::string_view or_none(std::string_view part) { return part.empty() ? "none" : part; }

}  // namespace

std::string_view version() { return SUBFLEET_VERSION; }

std::string build_description() {
  return fmt::format(
      "trainers: reference, {}, {}\n"
      "MPI: {}\n"
      "HDF5: {}\n"
      "Flower node: {}\n"
      "compiler: {}\n",
      trainer("cpu", SUBFLEET_WITH_DNNL), trainer("cuda", SUBFLEET_WITH_CUDA), or_none(SUBFLEET_WITH_MPI),
      or_none(SUBFLEET_WITH_HDF5), or_none(SUBFLEET_WITH_FLOWER), SUBFLEET_COMPILER);
}

}  // namespace subfleet
