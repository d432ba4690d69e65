#include "model/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "model/layers.h"
#include "model/tensor_model.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

constexpr size_t kMostCount = size_t{1} << 24;   // of units, steps, pixels along a side, ...
constexpr size_t kMostValues = size_t{1} << 28;  // between two layers, of one example

void check_count(const std::string& where, std::string_view what, size_t count, size_t least = 1) {
  if (count >= least && count <= kMostCount) return;
  throw bad_request(where, fmt::format("{} is {}; it must be from {} to {}", what, count, least, kMostCount));
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
      const bool left_out = !field.required && layer.**count == LayerSpec().**count;
      if (!left_out) check_count(where, field.key, layer.**count);
    } else if (const auto* optional = std::get_if<std::optional<size_t> LayerSpec::*>(&field.member)) {
      check_count(where, field.key, (layer.**optional).value_or(0), 0);
    }
  }
  const std::string misfit = type.misfit(layer, input);
  if (!misfit.empty()) throw bad_request(where, misfit);
}

// What an error calls a value.
std::string value_label(const ModelSpec& model, size_t value) {
  return value == 0 ? "the input" : layer_label(model, value - 1);
}

// Builds the graph layer by layer. Groups that an add joins keep the number of the first.
class Builder {
 public:
  explicit Builder(const ModelSpec& model) : model_(model) {
    check_count("input", "channels", model.input.channels);
    check_count("input", "height", model.input.height);
    check_count("input", "width", model.input.width);
    check_size("input", model.input);
    graph_.shapes.push_back(model.input);
    graph_.groups.push_back(
        {.name = "input", .units = model.input.channels, .droppable = false, .layers = {}});
    graph_.units.push_back({});
    joined_.push_back(0);
    plain_.push_back(true);
  }

  ModelGraph build() {
    for (size_t i = 0; i < model_.layers.size(); ++i) append(i);
    settle();
    return std::move(graph_);
  }

 private:
  void append(size_t i) {
    const LayerSpec& layer = model_.layers[i];
    const std::string where = layer_label(model_, i);
    const LayerType& type = layer_type(layer.type, where);
    const std::vector<uint32_t> inputs = layer_inputs(model_, i);
    check_inputs(where, i, inputs, type.adds());
    const Shape& input = graph_.shapes[inputs.front()];
    check_layer(where, layer, input);
    const Shape output = type.output(layer, input);
    check_size(where, output);

    ValueUnits units = graph_.units[inputs.front()];
    if (type.makes_units(layer)) {
      units = {.group = graph_.groups.size(), .spread = type.spread(layer, input)};
      graph_.groups.push_back(
          {.name = layer.name, .units = layer.units, .droppable = layer.droppable, .layers = {i}});
      joined_.push_back(units.group);
      plain_.push_back(true);
    } else {
      units.spread *= type.spread(layer, input);
      for (const uint32_t value : std::span(inputs).subspan(1)) join(where, inputs.front(), value);
      if (!type.passes_factors()) plain_[root(units.group)] = false;
    }
    graph_.inputs.push_back(inputs);
    graph_.shapes.push_back(output);
    graph_.units.push_back(units);
  }

  void check_inputs(const std::string& where, size_t i, const std::vector<uint32_t>& inputs,
                    bool adds) const {
    if (adds && inputs.size() < 2) {
      throw bad_request(where,
                        "adds one value alone; name two or more, as in inputs = [\"conv2\", \"shortcut\"]");
    }
    if (!adds && inputs.size() != 1) {
      throw bad_request(where, fmt::format("a {} layer reads one value, not {}; put an add layer before it",
                                           model_.layers[i].type, inputs.size()));
    }
    for (const uint32_t value : inputs) {
      if (value <= i) continue;
      throw bad_request(where, "reads what is made after it; a layer can only read layers above it");
    }
  }

  void join(const std::string& where, uint32_t first, uint32_t other) {
    if (graph_.shapes[first] != graph_.shapes[other]) {
      throw bad_request(where, fmt::format("adds {} ({}) and {} ({}); they must have the same shape",
                                           value_label(model_, first), shape_text(graph_.shapes[first]),
                                           value_label(model_, other), shape_text(graph_.shapes[other])));
    }
    const ValueUnits &a = graph_.units[first], &b = graph_.units[other];
    if (a.spread != b.spread) {
      throw bad_request(
          where, fmt::format("adds {}, with {} features per unit, and {}, with {}; put a dense layer or "
                             "a convolution between",
                             value_label(model_, first), a.spread, value_label(model_, other), b.spread));
    }
    const size_t into = std::min(root(a.group), root(b.group)), from = std::max(root(a.group), root(b.group));
    plain_[into] = false;
    joined_[from] = into;
  }

  size_t root(size_t group) const {
    while (joined_[group] != group) group = joined_[group];
    return group;
  }

  // Numbers the groups that are left, with all their layers.
  void settle() {
    std::vector<UnitGroup> left;
    std::vector<size_t> number(graph_.groups.size());
    for (size_t group = 0; group < number.size(); ++group) {
      if (root(group) != group) {
        number[group] = number[root(group)];
        std::vector<size_t>& layers = left[number[group]].layers;
        layers.insert(layers.end(), graph_.groups[group].layers.begin(), graph_.groups[group].layers.end());
        continue;
      }
      number[group] = left.size();
      left.push_back(std::move(graph_.groups[group]));
      graph_.scaled_as_made.push_back(plain_[group]);
    }
    graph_.groups = std::move(left);
    for (ValueUnits& units : graph_.units) units.group = number[units.group];
  }

  const ModelSpec& model_;
  ModelGraph graph_;
  std::vector<size_t> joined_;  // of each group: itself, or one that it became part of
  std::vector<bool> plain_;     // of each group: nobody adds it, and all that passes it on passes factors
};

}  // namespace

std::vector<uint32_t> layer_inputs(const ModelSpec& model, size_t i) {
  const std::vector<uint32_t>& named = model.layers[i].inputs;
  return named.empty() ? std::vector{static_cast<uint32_t>(i)} : named;
}

ModelGraph model_graph(const ModelSpec& model) { return Builder(model).build(); }

std::vector<UnitGroup> unit_groups(const ModelSpec& model) {
  if (model.tensors) return tensor_groups(*model.tensors);
  std::vector<UnitGroup> groups = model_graph(model).groups;
  groups.erase(groups.begin());
  return groups;
}

std::vector<UnitGroup> droppable_groups(const ModelSpec& model) {
  std::vector<UnitGroup> groups = unit_groups(model);
  std::erase_if(groups, [](const UnitGroup& group) { return !group.droppable; });
  return groups;
}

}  // namespace subfleet
