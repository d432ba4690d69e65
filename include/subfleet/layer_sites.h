#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "subfleet/model.h"

namespace subfleet {

// Where one layer sits in its model.
struct LayerSite {
  LayerSpec spec;
  Shape input, output;                // it may read several inputs of that shape
  std::vector<uint32_t> inputs = {};  // which values it reads; it makes value i + 1 if it is layer i
  size_t weights_offset = 0, weights_count = 0;  // its stretch of the flat weights
};

std::vector<LayerSite> layer_sites(const ModelSpec& model);

// How many read each value; the output has one reader more.
std::vector<size_t> reader_counts(const std::vector<LayerSite>& sites);

// Which values depend on weights, so that their gradient is of use.
std::vector<bool> learning_values(const std::vector<LayerSite>& sites);

// Whether the layer normalises over groups of channels, and where they end if they are equal parts.
bool has_channel_groups(const LayerSpec& spec);
std::vector<uint32_t> equal_channel_groups(const LayerSite& site);

// "32x14x14".
std::string shape_text(const Shape& shape);

// Floating-point operations for one example, forward: two for every weight that an input meets. Padding,
// activations, pooling, lookups and the loss count nothing.
double forward_operations(const LayerSite& site);

// The same for training, forward and back: twice more for the two gradients, and no input gradient before the
// first weights.
double training_operations(const ModelSpec& model);

// What a client that trains the model keeps, in bytes: its weights, trained and as they were given, and for a
// batch what every layer makes, with its gradient. A trainer takes somewhat more or, where a layer works in
// place, less.
uint64_t training_bytes(const ModelSpec& model, size_t batch);

}  // namespace subfleet
