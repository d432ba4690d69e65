#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "model/graph.h"
#include "model/layers.h"
#include "model/tensor_model.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

constexpr size_t kLongestName = 64;
constexpr double kMostParameters = 0x1p31;

bool is_name(std::string_view text, std::string_view punctuation) {
  return !text.empty() && text.size() <= kLongestName && std::ranges::all_of(text, [&](unsigned char c) {
    return (c < 0x80 && std::isalnum(c) != 0) || punctuation.find(static_cast<char>(c)) != text.npos;
  });
}

// The layer with every field at its default that its type does not use.
LayerSpec only_used_fields(const LayerSpec& layer, const LayerType& type) {
  LayerSpec used{.type = layer.type, .name = layer.name, .inputs = layer.inputs};
  if (type.makes_units(layer)) used.droppable = layer.droppable;
  for (const LayerField& field : type.fields()) {
    std::visit([&](auto member) { used.*member = layer.*member; }, field.member);
  }
  return used;
}

// What can be said of each layer without its input.
// Whether both look up the same symbols of the input.
bool reads_as_the_first(const ModelSpec& model, size_t i) {
  return layer_inputs(model, i) == std::vector<uint32_t>{0} &&
         model.layers[i].symbols == model.layers.front().symbols;
}

void check_layers(const ModelSpec& model) {
  std::set<std::string> names;
  for (size_t i = 0; i < model.layers.size(); ++i) {
    const LayerSpec& layer = model.layers[i];
    const std::string where = layer_label(model, i);
    const LayerType& type = layer_type(layer.type, where);
    if (!type.makes_units(layer) && layer.droppable) {
      throw bad_request(where, fmt::format("a {} layer has no units{}, so it cannot be droppable", layer.type,
                                           type.learns() ? " of its own" : ""));
    }
    if (!(layer == only_used_fields(layer, type))) {
      throw bad_request(where, fmt::format("a field is set that a {} layer does not use", layer.type));
    }
    if (type.uses(&LayerSpec::symbols) && i > 0 && !reads_as_the_first(model, i)) {
      throw bad_request(where,
                        fmt::format("an {} reads the input's symbols, so it must be the first layer or "
                                    "read \"input\", with as many symbols as the first",
                                    layer.type));
    }
    if (!type.learns() && layer.name.empty()) continue;
    check_layer_name(where, layer.name);
    if (layer.name == "input")
      throw bad_request(where, "the name 'input' is the model's input; choose another");
    if (!names.insert(layer.name).second) {
      throw bad_request(
          where, fmt::format("another layer is called '{}' too; each needs a name of its own", layer.name));
    }
  }
}

// Every value but the last one is read, and has a name where it is not the one before.
void check_readers(const ModelSpec& model, const ModelGraph& graph) {
  std::vector<bool> read(graph.shapes.size(), false);
  read.back() = true;
  for (size_t i = 0; i < model.layers.size(); ++i) {
    for (const uint32_t value : graph.inputs[i]) {
      read[value] = true;
      if (model.layers[i].inputs.empty() || value == 0 || !model.layers[value - 1].name.empty()) continue;
      throw bad_request(layer_label(model, value - 1), "is read by name, so it needs one");
    }
  }
  for (size_t value = 0; value < read.size(); ++value) {
    if (read[value]) continue;
    throw bad_request(value == 0 ? "input" : layer_label(model, value - 1),
                      "no layer reads it; name it in the inputs of one, or leave it out");
  }
}

void check_wholes(const ModelSpec& model, const ModelGraph& graph) {
  for (size_t i = 0; i < model.layers.size(); ++i) {
    const std::string misfit = layer_type(model.layers[i].type)
                                   .misfit_of_whole(model.layers[i], graph.shapes[graph.inputs[i].front()]);
    if (!misfit.empty()) throw bad_request(layer_label(model, i), misfit);
  }
}

// Layers whose outputs are added drop the same units.
void check_groups(const ModelSpec& model, const ModelGraph& graph) {
  for (const UnitGroup& group : graph.groups) {
    for (const size_t i : group.layers) {
      const bool droppable = model.layers[i].droppable;
      if (droppable == group.droppable) continue;
      if (&group == graph.groups.data()) {
        throw bad_request(layer_label(model, i), "is added to the model's input, so it cannot be droppable");
      }
      throw bad_request(layer_label(model, i),
                        fmt::format("is{} droppable, but {}, which it is added to, is{}; they must be alike",
                                    droppable ? "" : " not", group.name, droppable ? " not" : ""));
    }
  }
}

void check_parameter_count(const ModelSpec& model, const ModelGraph& graph) {
  double total = 0;
  for (size_t i = 0; i < model.layers.size(); ++i) {
    const LayerSpec& layer = model.layers[i];
    const Shape& input = graph.shapes[graph.inputs[i].front()];
    for (const ParameterSpec& parameter : layer_type(layer.type).parameters(layer, input)) {
      double size = 1;  // as a double, because the product may not fit a size_t
      for (const size_t extent : parameter.shape) size *= static_cast<double>(extent);
      total += size;
    }
    if (total > kMostParameters) {
      throw bad_request(
          layer_label(model, i),
          fmt::format("the model has {:.3g} parameters up to here; at most {:.0f} are supported", total,
                      kMostParameters));
    }
  }
}

// The units of the output are the classes, which every client needs.
void check_end(const ModelSpec& model, const ModelGraph& graph) {
  const bool has_units = std::ranges::any_of(
      model.layers, [](const LayerSpec& layer) { return layer_type(layer.type).makes_units(layer); });
  if (!has_units) {
    throw bad_request(model.name, "no layer has units, so nothing can be learned; add a dense layer");
  }
  const UnitGroup& classes = graph.groups[graph.units.back().group];
  const std::string where =
      layer_label(model, classes.layers.empty() ? model.layers.size() - 1 : classes.layers.back());
  if (classes.droppable) {
    throw bad_request(where, "the last layer's units are the classes, so it cannot be droppable");
  }
  const Shape& output = graph.shapes.back();
  if ((output.height != 1 || output.width != 1) && logit_rows(model) == 1) {
    throw bad_request(
        layer_label(model, model.layers.size() - 1),
        fmt::format("the model ends in {}, not in one number per class{}; end it with avgpool, or "
                    "with flatten and a dense layer",
                    shape_text(output),
                    model.layers.front().symbols > 0 ? " or, at every step, one per symbol" : ""));
  }
  if (output.channels < 2) {
    throw bad_request(where,
                      "there is 1 class, and a choice needs 2 or more; give the last layer more units");
  }
}

void check_vocabulary(const ModelSpec& model) {
  const std::string& vocabulary = model.vocabulary;
  if (vocabulary.empty()) return;
  const size_t symbols = model.layers.front().symbols;
  const bool plain = std::ranges::all_of(vocabulary, [](unsigned char c) { return c < 0x80; });
  if (!plain || std::set<char>(vocabulary.begin(), vocabulary.end()).size() != vocabulary.size()) {
    throw bad_request("vocabulary", "must be ASCII characters, each of them once");
  }
  if (symbols != vocabulary.size() + 1) {
    throw bad_request(
        "vocabulary",
        fmt::format("{} characters and one symbol for all others make {}, but layer 1 has symbols = {}",
                    vocabulary.size(), vocabulary.size() + 1, symbols));
  }
}

}  // namespace

void check_layer_name(const std::string& where, const std::string& name) {
  if (is_name(name, "_-")) return;
  throw bad_request(
      where, fmt::format("the name '{}' must be 1 to {} letters, digits, _ and -", name, kLongestName));
}

void check_model(const ModelSpec& model) {
  if (!is_name(model.name, "_-.")) {
    throw bad_request(
        "name", fmt::format("'{}' must be 1 to {} letters, digits, _, - and .", model.name, kLongestName));
  }
  if (model.tensors) {
    if (!model.layers.empty() || !model.vocabulary.empty())
      throw bad_request(model.name, "has tensors of its own, so it has no layers and no vocabulary");
    return check_tensor_model(*model.tensors);
  }
  if (model.layers.empty()) throw bad_request(model.name, "has no layers; the last one makes the classes");
  check_layers(model);
  const ModelGraph graph = model_graph(model);
  check_readers(model, graph);
  check_wholes(model, graph);
  check_groups(model, graph);
  check_parameter_count(model, graph);
  check_end(model, graph);
  check_vocabulary(model);
}

}  // namespace subfleet
