#pragma once

#include "nn/network.h"

namespace subfleet::cpu {

// It runs on the calling thread alone.
std::unique_ptr<Network> make_network(const ModelSpec& model);

}  // namespace subfleet::cpu
