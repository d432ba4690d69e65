#pragma once

#include "nn/network.h"

namespace subfleet::reference {

std::unique_ptr<Network> make_network(const ModelSpec& model);

}  // namespace subfleet::reference
