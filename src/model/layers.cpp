#include "model/layers.h"

#include <array>
#include <string>

#include "subfleet/error.h"

namespace subfleet {
namespace {

const std::array<const LayerType*, 5>& layer_types() {
  static const std::array<const LayerType*, 5> types{&conv2d_layer(), &dense_layer(), &flatten_layer(),
                                                     &maxpool_layer(), &relu_layer()};
  return types;
}

}  // namespace

const LayerType& layer_type(std::string_view name) {
  std::vector<std::string> known;
  for (const LayerType* type : layer_types()) {
    if (type->name() == name) return *type;
    known.emplace_back(type->name());
  }
  throw unknown_name("layer", name, known);
}

}  // namespace subfleet
