#pragma once

#include <string>
#include <string_view>

namespace subfleet {

// The version of this build, as in "0.1.0".
std::string_view version();

// What the build has: its trainers, MPI, HDF5, the node for Flower, and its compiler, one per line.
std::string build_description();

}  // namespace subfleet
