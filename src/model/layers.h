#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "subfleet/layer_sites.h"
#include "subfleet/model.h"

namespace subfleet {

// A key of a layer in a model file, and the field that it sets.
struct LayerField {
  std::string_view key;
  std::variant<size_t LayerSpec::*, bool LayerSpec::*, Initial LayerSpec::*> member;
  bool required = false;
};

// What a type of layer does to shapes, parameters and kept features. One file per type in this folder, and
// one line in layers.cpp. The arithmetic is in the trainers' files of the same name.
class LayerType {
 public:
  virtual ~LayerType() = default;
  virtual std::string_view name() const = 0;

  // "conv" of "conv1": how the generated name of a layer begins.
  virtual std::string_view stem() const { return name(); }

  // The fields of a LayerSpec that it uses, besides the type and, for a layer with units, name and droppable.
  // All other fields keep their defaults. Numbers are at least 1.
  virtual std::span<const LayerField> fields() const { return {}; }

  // Why the layer cannot take that input, and what would be right; empty if it can.
  virtual std::string misfit(const LayerSpec&, const Shape&) const { return {}; }

  // The shape of the output, for an input that fits.
  virtual Shape output(const LayerSpec& spec, const Shape& input) const = 0;

  // The tensors of a layer that gets its whole input, without offsets.
  virtual std::vector<ParameterSpec> parameters(const LayerSpec&, const Shape&) const { return {}; }

  // Only for a layer without units: the features (channels, or values once flat) that leave it, given those
  // that enter.
  virtual std::vector<uint32_t> pass(const Shape&, const std::vector<uint32_t>& kept) const { return kept; }

  // Floating-point operations of the forward pass for one example: two for every weight that an input meets.
  // Padding, activations, pooling and lookups are not counted.
  virtual double forward_operations(const LayerSpec& spec, const Shape& input) const = 0;

  // Whether the layer uses that field. Layers with parameters use `units`.
  bool uses(size_t LayerSpec::*member) const;
};

// The type of that name; throws Error about `what`, naming the nearest.
const LayerType& layer_type(std::string_view name, std::string_view what = "layer");
std::vector<std::string> layer_type_names();

// What an error calls a layer: "layer 3 (conv2)", or its type if it has no name.
std::string layer_label(const ModelSpec& model, size_t index);

const LayerType& avgpool_layer();
const LayerType& conv2d_layer();
const LayerType& dense_layer();
const LayerType& embedding_layer();
const LayerType& flatten_layer();
const LayerType& lstm_layer();
const LayerType& maxpool_layer();
const LayerType& relu_layer();

}  // namespace subfleet
