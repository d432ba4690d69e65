#pragma once

#include <fmt/format.h>

#include "model/layers.h"
#include "subfleet/error.h"
#include "subfleet/random.h"

namespace subfleet {

inline LayerSpec random_layer(Random& random, size_t number) {
  const std::vector<std::string> types = layer_type_names();
  LayerSpec layer{.type = types[random.below(static_cast<uint32_t>(types.size()))]};
  const LayerType& type = layer_type(layer.type);
  for (const LayerField& field : type.fields()) {
    if (const auto* count = std::get_if<size_t LayerSpec::*>(&field.member)) {
      layer.** count = 1 + random.below(5);
    } else if (const auto* optional = std::get_if<std::optional<size_t> LayerSpec::*>(&field.member)) {
      if (random.below(2) == 1) layer.** optional = random.below(3);
    } else if (const auto* flag = std::get_if<bool LayerSpec::*>(&field.member)) {
      layer.** flag = random.below(2) == 1;
    } else {
      layer.initial = random.below(2) == 1 ? Initial::kHe : Initial::kGlorot;
    }
  }
  layer.name = fmt::format("{}{}", type.stem(), number);
  layer.droppable = type.makes_units(layer) && random.below(2) == 1;
  const auto before = static_cast<uint32_t>(number - 1);  // the value, and how many others there are
  if (type.adds() && before > 0) layer.inputs = {random.below(before), before};
  return layer;
}

// A small model that passes check_model: pictures, sequences or symbols go through random layers in random
// order, some of which add what an earlier one made, then flatten and a dense layer.
inline ModelSpec random_model(uint64_t seed) {
  Random random({.seed = seed, .client = 77});
  while (true) {
    ModelSpec model{fmt::format("random-{}", seed), {1 + random.below(3), 1 + random.below(9), 1}, {}};
    if (random.below(2) == 1) model.input.width = 1 + random.below(9);
    const size_t count = 1 + random.below(6);
    for (size_t i = 1; i <= count; ++i) model.layers.push_back(random_layer(random, i));
    model.layers.push_back({.type = "flatten"});
    model.layers.push_back({.type = "dense", .name = "last", .units = 2 + random.below(3)});
    try {
      check_model(model);
      return model;
    } catch (const Error&) {
      continue;  // its layers do not fit
    }
  }
}

// A random choice of units for every droppable layer, at least one each.
inline std::vector<std::vector<uint32_t>> random_kept(const ModelSpec& model, uint64_t seed) {
  Random random({.seed = seed, .client = 78});
  std::vector<std::vector<uint32_t>> kept;
  for (const UnitGroup& group : droppable_groups(model)) {
    const auto units = static_cast<uint32_t>(group.units), always = random.below(units);
    std::vector<uint32_t>& own = kept.emplace_back();
    for (uint32_t unit = 0; unit < units; ++unit) {
      if (unit == always || random.below(2) == 1) own.push_back(unit);
    }
  }
  return kept;
}

}  // namespace subfleet
