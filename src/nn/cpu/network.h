#pragma once

#include "nn/network.h"

namespace subfleet::cpu {

// Runs on the calling thread alone.
std::unique_ptr<Network> make_network(const ModelSpec& model);

}  // namespace subfleet::cpu
