#include "model/layers.h"

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

const LayerType& layer_type(std::string_view name) {
  std::vector<std::string> known;
  for (const LayerType* type : layer_types()) {
    if (type->name() == name) return *type;
    known.emplace_back(type->name());
  }
  throw unknown_name("layer", name, known);
}

}  // namespace subfleet
