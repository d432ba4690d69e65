#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/toml_text.h"
#include "model/initial_names.h"
#include "model/layers.h"
#include "model/model_keys.h"
#include "model/tensor_model.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

// Each layer of each thread keeps what it computes for a batch of a test, about 1 MB if it is small.
constexpr size_t kMostLayers = 256;

// Unlike other counts, it may be 0.
size_t read_optional_count(const std::string& what, const toml::node& node) {
  const std::optional<int64_t> count = node.is_integer() ? node.value<int64_t>() : std::nullopt;
  if (!count || *count < 0) throw bad_request(what, "must be a whole number, 0 or more");
  return static_cast<size_t>(*count);
}

void read(const std::string& what, const toml::node& node, size_t& value) { value = read_count(what, node); }
void read(const std::string& what, const toml::node& node, std::optional<size_t>& value) {
  value = read_optional_count(what, node);
}
void read(const std::string& what, const toml::node& node, bool& value) { value = read_flag(what, node); }
void read(const std::string& what, const toml::node& node, Initial& value) {
  value = initial_of(what, read_text(what, node));
}

Shape read_input(const toml::node& node) {
  constexpr std::array<std::string_view, 3> kSides{"channels", "height", "width"};
  std::array<size_t, 3> counts{};
  if (const toml::table* table = node.as_table()) {
    check_keys("input", *table, {kSides.begin(), kSides.end()});
    for (size_t i = 0; i < counts.size(); ++i) {
      const toml::node& side =
          required("input", *table, kSides[i], "input = { channels = 1, height = 28, width = 28 }");
      counts[i] = read_count(at_key("input", kSides[i]), side);
    }
  } else {
    const toml::array* list = node.as_array();
    if (list == nullptr || list->size() != counts.size()) {
      throw bad_request("input", "must be [channels, height, width], as in input = [1, 28, 28]");
    }
    for (size_t i = 0; i < counts.size(); ++i) counts[i] = read_count("input", list->at(i));
  }
  return {counts[0], counts[1], counts[2]};
}

// A layer as the file has it; name, inputs and droppable may be missing.
struct ReadLayer {
  LayerSpec spec;
  std::vector<std::string> inputs = {};
  std::optional<bool> droppable;
};

// One name, or a list of them.
std::vector<std::string> read_inputs(const std::string& what, const toml::node& node) {
  if (node.is_string()) return {read_text(what, node)};
  const toml::array* list = node.as_array();
  if (list == nullptr || list->empty()) {
    throw bad_request(what, "must name layers above this one, as in [\"conv2\", \"shortcut\"]");
  }
  std::vector<std::string> names;
  for (const toml::node& name : *list) names.push_back(read_text(what, name));
  return names;
}

ReadLayer read_layer(size_t number, const toml::table& table) {
  const std::string unnamed = fmt::format("layer {}", number);
  ReadLayer layer;
  layer.spec.type = read_text(at_key(unnamed, "type"), required(unnamed, table, "type", "type = \"dense\""));
  const LayerType& type = layer_type(layer.spec.type, at_key(unnamed, "type"));
  const std::string where = fmt::format("layer {} ({})", number, layer.spec.type);

  std::vector<std::string> known{"type", "name", "inputs", "droppable"};
  for (const LayerField& field : type.fields()) known.emplace_back(field.key);
  check_keys(where, table, known);
  if (const toml::node* name = table.get("name")) {
    layer.spec.name = read_text(at_key(where, "name"), *name);
    if (layer.spec.name.empty()) throw bad_request(at_key(where, "name"), "is empty; leave it out instead");
  }
  if (const toml::node* inputs = table.get("inputs")) {
    layer.inputs = read_inputs(at_key(where, "inputs"), *inputs);
  }
  if (const toml::node* droppable = table.get("droppable")) {
    layer.droppable = read_flag(at_key(where, "droppable"), *droppable);
  }
  for (const LayerField& field : type.fields()) {
    const toml::node* node = table.get(field.key);
    const std::string what = at_key(where, field.key);
    if (node == nullptr && field.required) {
      throw bad_request(what, fmt::format("is missing; a {} layer needs it", layer.spec.type));
    }
    if (node == nullptr) continue;
    std::visit([&](auto member) { read(what, *node, layer.spec.*member); }, field.member);
  }
  return layer;
}

std::vector<ReadLayer> read_layers(const toml::table& table) {
  const toml::node* node = table.get("layer");
  if (node == nullptr) return {};
  const toml::array* list = node->as_array();
  if (list != nullptr && list->size() > kMostLayers) {
    throw bad_request(
        "layer", fmt::format("{} layers are too many; a model has at most {}", list->size(), kMostLayers));
  }
  std::vector<ReadLayer> layers;
  for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const toml::table* layer = list->at(i).as_table();
    if (layer == nullptr) break;
    layers.push_back(read_layer(i + 1, *layer));
  }
  if (list == nullptr || layers.size() != list->size()) {
    throw bad_request("layer", "must be a list of layers, each one [[layer]] or { type = ... }");
  }
  return layers;
}

// "conv3" is the third convolution, unless another layer is called so.
void name_unnamed(std::vector<ReadLayer>& layers) {
  std::set<std::string> taken;
  for (const ReadLayer& layer : layers) taken.insert(layer.spec.name);
  std::map<std::string_view, size_t> counts;
  for (ReadLayer& layer : layers) {
    const LayerType& type = layer_type(layer.spec.type);
    if (!type.learns()) continue;
    size_t number = ++counts[type.stem()];
    if (!layer.spec.name.empty()) continue;
    while (!taken.insert(fmt::format("{}{}", type.stem(), number)).second) ++number;
    layer.spec.name = fmt::format("{}{}", type.stem(), number);
  }
}

// Names as values: 0 is "input", i + 1 what layer i makes. What is said without need is left out.
void resolve_inputs(std::vector<ReadLayer>& layers) {
  std::map<std::string, uint32_t> values{{"input", 0}};
  for (size_t i = 0; i < layers.size(); ++i) {
    std::vector<uint32_t>& inputs = layers[i].spec.inputs;
    for (const std::string& name : layers[i].inputs) {
      const std::string what = fmt::format("layer {} ({}): inputs", i + 1, layers[i].spec.type);
      const auto found = values.find(name);
      if (found != values.end()) {
        inputs.push_back(found->second);
        continue;
      }
      const bool below =
          std::ranges::any_of(layers, [&](const ReadLayer& layer) { return layer.spec.name == name; });
      if (below) {
        throw bad_request(
            what, fmt::format("'{}' is not above this layer; a layer reads what is made before it", name));
      }
      std::vector<std::string> known;
      for (const auto& [above, value] : values) known.push_back(above);
      throw unknown_name(what, name, known);
    }
    if (inputs.size() == 1 && inputs.front() == i) inputs.clear();
    if (!layers[i].spec.name.empty()) values.emplace(layers[i].spec.name, static_cast<uint32_t>(i + 1));
  }
}

// Where the file says nothing, all groups of units are droppable but the first and the last and those of
// layers whose outputs are added: a residual stream stays whole. What it says of one layer of a group holds
// for all of them.
void decide_droppable(std::vector<ReadLayer>& layers, const std::vector<UnitGroup>& groups) {
  for (const UnitGroup& group : groups) {
    const bool inner = &group != &groups.front() && &group != &groups.back() && group.layers.size() == 1;
    std::optional<bool> said;
    for (const size_t i : group.layers) {
      if (!said) said = layers[i].droppable;
    }
    for (const size_t i : group.layers) {
      layers[i].spec.droppable = layers[i].droppable.value_or(said.value_or(inner));
    }
  }
  for (ReadLayer& layer : layers) {
    if (!layer_type(layer.spec.type).makes_units(layer.spec))
      layer.spec.droppable = layer.droppable.value_or(false);
  }
}

// "my net.toml" names the model "my-net".
std::string name_of_file(std::string_view source) {
  std::string name = std::filesystem::path(source).stem().string();
  for (char& c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!plain && c != '_' && c != '.') c = '-';
  }
  return name;
}

ModelSpec read_model(const toml::table& table, std::string_view source) {
  check_keys("", table, {"name", "input", "layer", "vocabulary", "outputs", "group", "tensor"});
  ModelSpec model{.name = name_of_file(source),
                  .input = read_input(required("", table, "input", "input = [1, 28, 28]")),
                  .layers = {}};
  if (const toml::node* name = table.get("name")) model.name = read_text("name", *name);
  if (const toml::node* vocabulary = table.get("vocabulary")) {
    model.vocabulary = read_text("vocabulary", *vocabulary);
  }
  if (table.contains("tensor")) {
    if (table.contains("layer")) throw bad_request("layer", "a model has layers or tensors, not both");
    model.tensors = read_tensor_model(table);
    check_model(model);
    return model;
  }
  for (const char* key : {"outputs", "group"}) {
    if (table.contains(key)) throw bad_request(key, "is for a model of tensors, and there is no tensor");
  }
  std::vector<ReadLayer> layers = read_layers(table);
  name_unnamed(layers);
  resolve_inputs(layers);
  for (const ReadLayer& layer : layers) model.layers.push_back(layer.spec);
  decide_droppable(layers, unit_groups(model));
  for (size_t i = 0; i < layers.size(); ++i) model.layers[i].droppable = layers[i].spec.droppable;
  check_model(model);
  return model;
}

}  // namespace

ModelSpec parse_model(std::string_view text, std::string_view source) {
  const toml::table table = parse_toml(text, source);
  try {
    return read_model(table, source);
  } catch (const Error& error) {
    throw bad_request(source, error.what());
  }
}

}  // namespace subfleet
