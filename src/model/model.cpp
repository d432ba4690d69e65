#include "subfleet/model.h"

#include <cmath>

#include "model/layers.h"
#include "subfleet/random.h"

namespace subfleet {

std::vector<Shape> layer_shapes(const ModelSpec& model) {
  std::vector<Shape> shapes{model.input};
  for (const LayerSpec& layer : model.layers) {
    shapes.push_back(layer_type(layer.type).output(layer, shapes.back()));
  }
  return shapes;
}

std::vector<ParameterSpec> model_parameters(const ModelSpec& model) {
  const std::vector<Shape> shapes = layer_shapes(model);
  std::vector<ParameterSpec> all;
  size_t offset = 0;
  for (size_t i = 0; i < model.layers.size(); ++i) {
    for (ParameterSpec& parameter : layer_type(model.layers[i].type).parameters(model.layers[i], shapes[i])) {
      parameter.offset = offset;
      offset += parameter.size();
      all.push_back(std::move(parameter));
    }
  }
  return all;
}

size_t parameter_count(const ModelSpec& model) {
  size_t count = 0;
  for (const ParameterSpec& parameter : model_parameters(model)) count += parameter.size();
  return count;
}

size_t class_count(const ModelSpec& model) { return layer_shapes(model).back().size(); }

std::vector<size_t> droppable_layers(const ModelSpec& model) {
  std::vector<size_t> indices;
  for (size_t i = 0; i < model.layers.size(); ++i) {
    if (model.layers[i].droppable) indices.push_back(i);
  }
  return indices;
}

std::vector<float> initial_weights(const ModelSpec& model, uint64_t seed) {
  std::vector<float> weights(parameter_count(model), 0.0f);
  uint32_t index = 0;
  for (const ParameterSpec& p : model_parameters(model)) {
    Random random({.seed = seed, .client = index++, .purpose = Purpose::kInitialWeights});
    if (p.fan_in + p.fan_out == 0) continue;
    const double limit = std::sqrt(6.0 / static_cast<double>(p.fan_in + p.fan_out));
    for (size_t i = 0; i < p.size(); ++i) {
      weights[p.offset + i] = static_cast<float>(random.uniform(-limit, limit));
    }
  }
  return weights;
}

}  // namespace subfleet
