#pragma once

#include <cstdint>
#include <vector>

#include "subfleet/model.h"

namespace subfleet {

// Which units a value's features belong to: feature f is unit f / spread's.
struct ValueUnits {
  size_t group = 0;   // into ModelGraph::groups
  size_t spread = 1;  // features of each unit
};

// What follows from a model's layers and who reads whom.
struct ModelGraph {
  std::vector<std::vector<uint32_t>> inputs;  // of each layer
  std::vector<Shape> shapes;                  // of each value
  std::vector<ValueUnits> units;              // of each value
  std::vector<UnitGroup> groups;              // the first is what the model's input belongs to
  std::vector<bool>
      scaled_as_made;  // of each group: whether a factor may stand behind the layer that makes its units
};

// Throws Error, in one line that names the layer, if they do not fit together.
ModelGraph model_graph(const ModelSpec& model);

}  // namespace subfleet
