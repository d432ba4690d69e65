#include "subfleet/model.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "model/graph.h"
#include "model/layers.h"
#include "model/tensor_model.h"
#include "subfleet/random.h"

namespace subfleet {

std::vector<Shape> value_shapes(const ModelSpec& model) {
  if (model.tensors) return {model.input, {.channels = model.tensors->outputs}};
  return model_graph(model).shapes;
}

std::vector<ParameterSpec> model_parameters(const ModelSpec& model) {
  if (model.tensors) return tensor_parameters(*model.tensors);
  const ModelGraph graph = model_graph(model);
  std::vector<ParameterSpec> all;
  size_t offset = 0;
  for (size_t i = 0; i < model.layers.size(); ++i) {
    const Shape& input = graph.shapes[graph.inputs[i].front()];
    for (ParameterSpec& parameter : layer_type(model.layers[i].type).parameters(model.layers[i], input)) {
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

size_t learnt_count(const ModelSpec& model) {
  size_t count = 0;
  for (const ParameterSpec& parameter : model_parameters(model))
    count += parameter.statistic ? 0 : parameter.size();
  return count;
}

size_t logit_rows(const ModelSpec& model) {
  if (model.tensors) return 1;
  const Shape output = value_shapes(model).back();
  const bool of_steps = output.width == 1 && output.height == model.input.height;
  return of_steps && output.channels == model.layers.front().symbols ? output.height : 1;
}

size_t class_count(const ModelSpec& model) { return value_shapes(model).back().size() / logit_rows(model); }

std::vector<float> initial_weights(const ModelSpec& model, uint64_t seed) {
  std::vector<float> weights(parameter_count(model), 0.0f);
  uint32_t index = 0;
  for (const ParameterSpec& p : model_parameters(model)) {
    Random random({.seed = seed, .client = index++, .purpose = Purpose::kInitialWeights});
    if (p.fan_in + p.fan_out == 0) {
      std::ranges::fill(std::span(weights).subspan(p.offset, p.size()), p.start);
      continue;
    }
    const double limit = std::sqrt(6.0 / static_cast<double>(p.fan_in + p.fan_out));
    random.fill_uniform(std::span(weights).subspan(p.offset, p.size()), -limit, limit);
  }
  return weights;
}

}  // namespace subfleet
