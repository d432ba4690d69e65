#include "model/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "subfleet/error.h"

namespace subfleet {
namespace {

const auto& layer_types() {
  static const std::array types{&add_layer(),       &attention_layer(), &avgpool_layer(),   &conv2d_layer(),
                                &dense_layer(),     &embedding_layer(), &flatten_layer(),   &gelu_layer(),
                                &groupnorm_layer(), &gru_layer(),       &layernorm_layer(), &lstm_layer(),
                                &maxpool_layer(),   &position_layer(),  &relu_layer(),      &scale_layer(),
                                &sigmoid_layer(),   &silu_layer(),      &tanh_layer()};
  return types;
}

}  // namespace

bool LayerType::uses(size_t LayerSpec::*member) const {
  return std::ranges::any_of(fields(), [&](const LayerField& field) {
    const auto* count = std::get_if<size_t LayerSpec::*>(&field.member);
    return count != nullptr && *count == member;
  });
}

void LayerType::shrink(LayerSpec& spec, size_t count) const {
  if (makes_units(spec)) spec.units = count;
}

ParameterSpec with_initial(Initial initial, ParameterSpec parameter) {
  if (initial != Initial::kGlorot) parameter.fan_out = 0;
  if (initial == Initial::kZero) parameter.fan_in = 0;
  return parameter;
}

std::vector<ParameterSpec> normalisation_parameters(const LayerSpec& spec, const Shape& input) {
  return {{.name = spec.name + ".weight", .shape = {input.channels}, .rows = input.channels, .start = 1},
          {.name = spec.name + ".bias", .shape = {input.channels}, .rows = input.channels}};
}

std::vector<std::string> layer_type_names() {
  std::vector<std::string> names;
  for (const LayerType* type : layer_types()) names.emplace_back(type->name());
  return names;
}

const LayerType& layer_type(std::string_view name, std::string_view what) {
  for (const LayerType* type : layer_types()) {
    if (type->name() == name) return *type;
  }
  throw unknown_name(what, name, layer_type_names());
}

std::string layer_label(const ModelSpec& model, size_t index) {
  const LayerSpec& layer = model.layers[index];
  return fmt::format("layer {} ({})", index + 1, layer.name.empty() ? layer.type : layer.name);
}

std::string shape_text(const Shape& shape) {
  return fmt::format("{}x{}x{}", shape.channels, shape.height, shape.width);
}

}  // namespace subfleet
