#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "subfleet/model.h"

// What every ServerState asks of the values that it is given; anything else throws Error.
namespace subfleet {

void check_weights(const ModelSpec& model, size_t weights, std::span<const float> given);

// `names` are the optimizer's moments.
void check_moments(const ModelSpec& model, size_t weights, std::span<const std::string> names,
                   std::span<const std::vector<float>> given);

}  // namespace subfleet
