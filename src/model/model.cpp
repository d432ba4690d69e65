#include "subfleet/model.h"

#include <fmt/format.h>

#include <cmath>
#include <span>

#include "model/layers.h"
#include "subfleet/error.h"
#include "subfleet/random.h"

namespace subfleet {

namespace {

constexpr size_t kMostCount = size_t{1} << 24;   // of units, steps, pixels along a side, ...
constexpr size_t kMostValues = size_t{1} << 28;  // between two layers, of one example

void check_count(const std::string& where, std::string_view what, size_t count) {
  if (count >= 1 && count <= kMostCount) return;
  throw bad_request(where, fmt::format("{} is {}; it must be from 1 to {}", what, count, kMostCount));
}

// With sides of at most kMostCount, the product is exact enough as a double.
void check_size(const std::string& where, const Shape& shape) {
  const double values = static_cast<double>(shape.channels) * static_cast<double>(shape.height) *
                        static_cast<double>(shape.width);
  if (values <= static_cast<double>(kMostValues)) return;
  throw bad_request(where, fmt::format("{} are too many values for one example; at most {} are supported",
                                       shape_text(shape), kMostValues));
}

void check_layer(const std::string& where, const LayerSpec& layer, const Shape& input) {
  const LayerType& type = layer_type(layer.type, where);
  for (const LayerField& field : type.fields()) {
    if (const auto* count = std::get_if<size_t LayerSpec::*>(&field.member)) {
      check_count(where, field.key, layer.**count);
    }
  }
  const std::string misfit = type.misfit(layer, input);
  if (!misfit.empty()) throw bad_request(where, misfit);
}

}  // namespace

std::vector<Shape> layer_shapes(const ModelSpec& model) {
  check_count("input", "channels", model.input.channels);
  check_count("input", "height", model.input.height);
  check_count("input", "width", model.input.width);
  check_size("input", model.input);
  std::vector<Shape> shapes{model.input};
  for (size_t i = 0; i < model.layers.size(); ++i) {
    const LayerSpec& layer = model.layers[i];
    const std::string where = layer_label(model, i);
    check_layer(where, layer, shapes.back());
    shapes.push_back(layer_type(layer.type).output(layer, shapes.back()));
    check_size(where, shapes.back());
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
    random.fill_uniform(std::span(weights).subspan(p.offset, p.size()), -limit, limit);
  }
  return weights;
}

}  // namespace subfleet
