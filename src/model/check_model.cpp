#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

#include "model/layers.h"
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

// Layers are tensors' prefixes and parts of settings' names, so a dot cannot be in them.
void check_layer_name(const std::string& where, const std::string& name) {
  if (is_name(name, "_-")) return;
  throw bad_request(
      where, fmt::format("the name '{}' must be 1 to {} letters, digits, _ and -", name, kLongestName));
}

// The layer with every field at its default that its type does not use.
LayerSpec only_used_fields(const LayerSpec& layer, const LayerType& type) {
  LayerSpec used{.type = layer.type};
  if (type.uses(&LayerSpec::units)) {
    used.name = layer.name;
    used.droppable = layer.droppable;
  }
  for (const LayerField& field : type.fields()) {
    std::visit([&](auto member) { used.*member = layer.*member; }, field.member);
  }
  return used;
}

// What can be said of each layer without its input.
void check_layers(const ModelSpec& model) {
  std::set<std::string> names;
  for (size_t i = 0; i < model.layers.size(); ++i) {
    const LayerSpec& layer = model.layers[i];
    const std::string where = layer_label(model, i);
    const LayerType& type = layer_type(layer.type, where);
    const bool has_units = type.uses(&LayerSpec::units);
    if (!has_units && layer.droppable) {
      throw bad_request(where, fmt::format("a {} layer has no units, so it cannot be droppable", layer.type));
    }
    if (!(layer == only_used_fields(layer, type))) {
      throw bad_request(where, fmt::format("a field is set that a {} layer does not use", layer.type));
    }
    if (type.uses(&LayerSpec::symbols) && i > 0) {
      throw bad_request(
          where, fmt::format("an {} reads the input's symbols, so it must be the first layer", layer.type));
    }
    if (!has_units) continue;
    check_layer_name(where, layer.name);
    if (!names.insert(layer.name).second) {
      throw bad_request(
          where, fmt::format("another layer is called '{}' too; each needs a name of its own", layer.name));
    }
  }
}

void check_parameter_count(const ModelSpec& model, const std::vector<Shape>& shapes) {
  double total = 0;
  for (size_t i = 0; i < model.layers.size(); ++i) {
    const LayerSpec& layer = model.layers[i];
    for (const ParameterSpec& parameter : layer_type(layer.type).parameters(layer, shapes[i])) {
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

// The last layer with units makes the classes, which every client needs.
void check_end(const ModelSpec& model, const Shape& output) {
  std::optional<size_t> last;
  for (size_t i = 0; i < model.layers.size(); ++i) {
    if (layer_type(model.layers[i].type).uses(&LayerSpec::units)) last = i;
  }
  if (!last) {
    throw bad_request(model.name, "no layer has units, so nothing can be learned; add a dense layer");
  }
  if (model.layers[*last].droppable) {
    throw bad_request(layer_label(model, *last),
                      "the last layer's units are the classes, so it cannot be droppable");
  }
  if (output.height != 1 || output.width != 1) {
    throw bad_request(
        layer_label(model, model.layers.size() - 1),
        fmt::format("the model ends in {}, not in one number per class; end it with avgpool, or "
                    "with flatten and a dense layer",
                    shape_text(output)));
  }
  if (output.channels < 2) {
    throw bad_request(layer_label(model, *last),
                      "1 class is none to choose from; the last layer needs 2 units or more");
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

void check_model(const ModelSpec& model) {
  if (!is_name(model.name, "_-.")) {
    throw bad_request(
        "name", fmt::format("'{}' must be 1 to {} letters, digits, _, - and .", model.name, kLongestName));
  }
  if (model.layers.empty()) throw bad_request(model.name, "has no layers; the last one makes the classes");
  check_layers(model);
  const std::vector<Shape> shapes = layer_shapes(model);
  check_parameter_count(model, shapes);
  check_end(model, shapes.back());
  check_vocabulary(model);
}

}  // namespace subfleet
