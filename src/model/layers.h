#pragma once

#include <string_view>
#include <vector>

#include "subfleet/model.h"

namespace subfleet {

// What a type of layer does to shapes, parameters and kept features. One file each in this folder, one line
// in layers.cpp; the arithmetic is in the trainers' file of the same name.
class LayerType {
 public:
  virtual ~LayerType() = default;
  virtual std::string_view name() const = 0;

  // The shape that leaves; throws Error if `input` does not fit.
  virtual Shape output(const LayerSpec& spec, const Shape& input) const = 0;

  // The layer's tensors for a whole input, without offsets.
  virtual std::vector<ParameterSpec> parameters(const LayerSpec&, const Shape&) const { return {}; }

  // The features (channels, or values once flat) that leave a layer without units, given those that come in.
  virtual std::vector<uint32_t> pass(const Shape&, const std::vector<uint32_t>& kept) const { return kept; }
};

// The type of that name; throws Error naming the nearest.
const LayerType& layer_type(std::string_view name);

const LayerType& avgpool_layer();
const LayerType& conv2d_layer();
const LayerType& dense_layer();
const LayerType& embedding_layer();
const LayerType& flatten_layer();
const LayerType& lstm_layer();
const LayerType& maxpool_layer();
const LayerType& relu_layer();

}  // namespace subfleet
