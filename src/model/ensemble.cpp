#include "model/ensemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "model/layers.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

constexpr std::array<std::string_view, 6> kPossible{"avgpool", "conv2d",  "dense",
                                                    "flatten", "maxpool", "relu"};

bool has_weights(const LayerSpec& layer) { return layer_type(layer.type).uses(&LayerSpec::units); }

// The members have the same input and classes: they share the input of the first layer with weights and the
// output of the last. Everything between belongs to one member.
struct Ends {
  size_t first = 0, last = 0;  // layers with weights
};

Ends ends_of(const ModelSpec& model) {
  const auto first = std::ranges::find_if(model.layers, has_weights);
  const auto last = std::find_if(model.layers.rbegin(), model.layers.rend(), has_weights);
  return {.first = static_cast<size_t>(first - model.layers.begin()),
          .last = model.layers.size() - 1 - static_cast<size_t>(last - model.layers.rbegin())};
}

// Adds one member's tensor to the ensemble's, `factor` times, from that row and column on.
void add_block(const ParameterSpec& part, std::span<const float> values, const ParameterSpec& whole,
               std::span<float> into, size_t first_row, size_t first_column, float factor) {
  const size_t width = part.columns * part.inner, whole_width = whole.columns * whole.inner;
  for (size_t row = 0; row < part.rows; ++row) {
    const float* from = values.data() + part.offset + row * width;
    float* to = into.data() + whole.offset + (first_row + row) * whole_width + first_column * whole.inner;
    for (size_t i = 0; i < width; ++i) to[i] += factor * from[i];
  }
}

// Whether the members' units can stand side by side; what is behind the last layer with weights must leave a
// mean a mean.
bool can_stand_side_by_side(const ModelSpec& model) {
  const size_t last = ends_of(model).last;
  for (size_t i = 0; i < model.layers.size(); ++i) {
    const LayerSpec& layer = model.layers[i];
    const bool possible = std::ranges::find(kPossible, layer.type) != kPossible.end() &&
                          layer.inputs.empty() && layer.groups == 1;
    if (!possible || (i > last && layer.type != "avgpool" && layer.type != "flatten")) return false;
  }
  return true;
}

Ensemble side_by_side(const ModelSpec& model, std::span<const std::vector<float>> members) {
  const auto [first, last] = ends_of(model);
  Ensemble ensemble{.model = model, .weights = {}};
  for (size_t i = first; i < last; ++i) {
    if (has_weights(model.layers[i])) ensemble.model.layers[i].units *= members.size();
  }
  check_model(ensemble.model);

  const std::vector<ParameterSpec> parts = model_parameters(model), wholes = model_parameters(ensemble.model);
  const float share = 1.0f / static_cast<float>(members.size());
  ensemble.weights.assign(parameter_count(ensemble.model), 0.0f);
  for (size_t member = 0; member < members.size(); ++member) {
    for (size_t t = 0; t < parts.size(); ++t) {
      const bool shared_rows = wholes[t].rows == parts[t].rows,
                 shared_columns = wholes[t].columns == parts[t].columns;
      add_block(parts[t], members[member], wholes[t], ensemble.weights,
                shared_rows ? 0 : member * parts[t].rows, shared_columns ? 0 : member * parts[t].columns,
                shared_rows ? share : 1.0f);
    }
  }
  return ensemble;
}

// Each member ends in its share of the mean.
Ensemble as_branches(const ModelSpec& model, std::span<const std::vector<float>> members) {
  Ensemble ensemble{.model = model, .weights = {}};
  std::vector<LayerSpec>& layers = ensemble.model.layers;
  layers.clear();
  std::vector<uint32_t> ends;
  for (const std::vector<float>& weights : members) {
    const auto before = static_cast<uint32_t>(layers.size());
    const auto name = [&] { return fmt::format("member{}_{}", ends.size() + 1, layers.size() - before + 1); };
    for (size_t i = 0; i < model.layers.size(); ++i) {
      LayerSpec layer = model.layers[i];
      layer.name = name();
      layer.inputs = layer_inputs(model, i);
      for (uint32_t& value : layer.inputs) value += value > 0 ? before : 0;
      layers.push_back(std::move(layer));
    }
    layers.push_back({.type = "scale", .name = name()});
    ends.push_back(static_cast<uint32_t>(layers.size()));
    ensemble.weights.insert(ensemble.weights.end(), weights.begin(), weights.end());
    ensemble.weights.push_back(1.0f / static_cast<float>(members.size()));
  }
  layers.push_back({.type = "add", .inputs = std::move(ends)});
  check_model(ensemble.model);
  return ensemble;
}

}  // namespace

Ensemble make_ensemble(const ModelSpec& model, std::span<const std::vector<float>> members) {
  if (members.empty()) throw bad_request("ensemble", "of no models");
  if (model.tensors)
    throw bad_request("ensemble", fmt::format("{} has no layers to put side by side", model.name));
  const size_t size = parameter_count(model);
  for (size_t member = 0; member < members.size(); ++member) {
    if (members[member].size() == size) continue;
    throw bad_request("ensemble", fmt::format("member {} has {} weights, but {} has {}", member + 1,
                                              members[member].size(), model.name, size));
  }
  if (members.size() == 1) return {.model = model, .weights = members.front()};
  return can_stand_side_by_side(model) ? side_by_side(model, members) : as_branches(model, members);
}

}  // namespace subfleet
