#include "model/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "subfleet/error.h"

namespace subfleet {
namespace {

const std::array<const LayerType*, 8>& layer_types() {
  static const std::array<const LayerType*, 8> types{&avgpool_layer(),   &conv2d_layer(),  &dense_layer(),
                                                     &embedding_layer(), &flatten_layer(), &lstm_layer(),
                                                     &maxpool_layer(),   &relu_layer()};
  return types;
}

}  // namespace

bool LayerType::uses(size_t LayerSpec::*member) const {
  return std::ranges::any_of(fields(), [&](const LayerField& field) {
    const auto* count = std::get_if<size_t LayerSpec::*>(&field.member);
    return count != nullptr && *count == member;
  });
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
