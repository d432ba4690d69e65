#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "subfleet/model.h"

namespace subfleet {

// Where one layer sits in its model.
struct LayerSite {
  LayerSpec spec;
  Shape input, output;
  size_t weights_offset = 0, weights_count = 0;  // its stretch of the flat weights
};

std::vector<LayerSite> layer_sites(const ModelSpec& model);

// "32x14x14".
std::string shape_text(const Shape& shape);

// Floating-point operations for one example, forward: two for every weight that an input meets. Padding,
// activations, pooling, lookups and the loss count nothing.
double forward_operations(const LayerSite& site);

// The same for training, forward and back: twice more for the two gradients, and no input gradient before the
// first weights.
double training_operations(const ModelSpec& model);

}  // namespace subfleet
