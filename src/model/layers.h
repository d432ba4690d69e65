#pragma once

#include <optional>
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
  std::variant<size_t LayerSpec::*, std::optional<size_t> LayerSpec::*, bool LayerSpec::*,
               Initial LayerSpec::*>
      member;
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

  // The fields of a LayerSpec that it uses, besides type, name and inputs and, for a layer that makes units,
  // droppable. All other fields keep their defaults. Counts are at least 1, optional counts may be 0.
  virtual std::span<const LayerField> fields() const { return {}; }

  // Whether it adds several values up; all other layers read one.
  virtual bool adds() const { return false; }

  // Whether it has weights, and so needs a name.
  virtual bool learns() const { return false; }

  // Whether it makes units of its own from all features that enter. What other layers make belongs to the
  // units that they read, and one unit's features depend on that unit's alone.
  virtual bool makes_units(const LayerSpec&) const { return false; }

  // For a layer that makes units, how many features each has. For others, how many features each feature that
  // enters becomes. They lie side by side.
  virtual size_t spread(const LayerSpec&, const Shape&) const { return 1; }

  // Whether a factor may pass through: f(a x) = a f(x) for a > 0.
  virtual bool passes_factors() const { return false; }

  // Whether it normalises over groups of channels, which a sub-model keeps unequal parts of.
  virtual bool has_channel_groups() const { return false; }

  // Why the layer cannot take that input, and what would be right; empty if it can.
  virtual std::string misfit(const LayerSpec&, const Shape&) const { return {}; }

  // The same for what a sub-model need not hold to.
  virtual std::string misfit_of_whole(const LayerSpec&, const Shape&) const { return {}; }

  // The shape of the output, for an input that fits.
  virtual Shape output(const LayerSpec& spec, const Shape& input) const = 0;

  // The tensors of a layer that gets its whole input, without offsets.
  virtual std::vector<ParameterSpec> parameters(const LayerSpec&, const Shape&) const { return {}; }

  // Changes the fields of a layer that keeps so many units, of those that it makes, or else reads so many
  // features.
  virtual void shrink(LayerSpec& spec, size_t count) const;

  // Floating-point operations of the forward pass for one example: two for every weight that an input meets.
  // Padding, activations, normalisation, pooling and lookups are not counted.
  virtual double forward_operations(const LayerSpec& spec, const Shape& input) const = 0;

  // Whether the layer uses that field.
  bool uses(size_t LayerSpec::*member) const;
};

// A tensor whose fan_in and fan_out are known, to begin in that way.
ParameterSpec with_initial(Initial initial, ParameterSpec parameter);

// Those of a normalisation: a factor, first 1, and a bias for each channel.
std::vector<ParameterSpec> normalisation_parameters(const LayerSpec& spec, const Shape& input);

// The type of that name; throws Error about `what`, naming the nearest.
const LayerType& layer_type(std::string_view name, std::string_view what = "layer");
std::vector<std::string> layer_type_names();

// What an error calls a layer: "layer 3 (conv2)", or its type if it has no name.
std::string layer_label(const ModelSpec& model, size_t index);

// Throws Error unless it can be the name of a layer or of a group of units, which is the prefix of tensors
// and a part of settings' names, so a dot cannot be in it.
void check_layer_name(const std::string& where, const std::string& name);

const LayerType& add_layer();
const LayerType& attention_layer();
const LayerType& avgpool_layer();
const LayerType& conv2d_layer();
const LayerType& dense_layer();
const LayerType& embedding_layer();
const LayerType& flatten_layer();
const LayerType& gelu_layer();
const LayerType& groupnorm_layer();
const LayerType& gru_layer();
const LayerType& layernorm_layer();
const LayerType& lstm_layer();
const LayerType& maxpool_layer();
const LayerType& position_layer();
const LayerType& relu_layer();
const LayerType& scale_layer();
const LayerType& sigmoid_layer();
const LayerType& silu_layer();
const LayerType& tanh_layer();

}  // namespace subfleet
