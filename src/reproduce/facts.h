#pragma once

#include <string>
#include <vector>

#include "subfleet/reproduce/experiment.h"

namespace subfleet {

// What follows from a network and its codes without any training.
std::vector<std::string> fact_names();

// The value of a fact for that configuration. Throws Error if it names a layer or a degree that is not there.
double fact(const ExpectedValue& value, const Config& config);

}  // namespace subfleet
