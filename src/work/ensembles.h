#pragma once

#include <span>
#include <vector>

#include "subfleet/fleet.h"

// Testing trained models, alone and together.
namespace subfleet {

// How a model does on the fleet's test examples. Throws Error if there are none.
Evaluation test_model(Fleet& fleet, const ModelSpec& model, std::span<const float> weights);

// How several models of one shape do together, as make_ensemble joins them.
Evaluation test_ensemble(Fleet& fleet, const ModelSpec& model, std::span<const std::vector<float>> members);

}  // namespace subfleet
