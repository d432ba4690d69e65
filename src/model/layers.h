#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "subfleet/layer_sites.h"
#include "subfleet/model.h"

namespace subfleet {

// One key of a layer in a model file, and the field that it sets.
struct LayerField {
  std::string_view key;
  std::variant<size_t LayerSpec::*, bool LayerSpec::*, Initial LayerSpec::*> member;
  bool required = false;
};

// What a type of layer does to shapes, parameters and kept features. One file per type in this folder, one
// line in layers.cpp; the arithmetic is in the trainers' file of the same name.
class LayerType {
 public:
  virtual ~LayerType() = default;
  virtual std::string_view name() const = 0;

  // "conv" of "conv1": how a layer begins to be called that a model file does not name.
  virtual std::string_view stem() const { return name(); }

  // The fields of a LayerSpec that it uses, besides type and, if it has units, name and droppable. The others
  // keep their defaults; numbers are 1 or more.
  virtual std::span<const LayerField> fields() const { return {}; }

  // Why the layer cannot take that input, and what would be right; empty if it can.
  virtual std::string misfit(const LayerSpec&, const Shape&) const { return {}; }

  // The shape that leaves, for an input that fits.
  virtual Shape output(const LayerSpec& spec, const Shape& input) const = 0;

  // The layer's tensors for a whole input, without offsets.
  virtual std::vector<ParameterSpec> parameters(const LayerSpec&, const Shape&) const { return {}; }

  // The features (channels, or values once flat) that leave a layer without units, given those that come in.
  virtual std::vector<uint32_t> pass(const Shape&, const std::vector<uint32_t>& kept) const { return kept; }

  // Floating-point operations for one example, forward: two for every weight that an input meets. Padding,
  // activations, pooling and lookups count nothing.
  virtual double forward_operations(const LayerSpec& spec, const Shape& input) const = 0;

  // Whether it has that field, as layers with parameters have `units`.
  bool uses(size_t LayerSpec::*member) const;
};

// The type of that name; throws Error, about `what`, naming the nearest.
const LayerType& layer_type(std::string_view name, std::string_view what = "layer");
std::vector<std::string> layer_type_names();

// "layer 3 (conv2)", or its type if it has no name: what an error is about.
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
