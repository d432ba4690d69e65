#include <fmt/format.h>

#include <optional>
#include <string>

#include "model/initial_names.h"
#include "model/layers.h"
#include "model/model_keys.h"
#include "model/tensor_model.h"

namespace subfleet {

std::string toml_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (c == '\n') {
      out += "\\n";
    } else if (c < ' ' || c == 0x7f) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

namespace {

std::string value_text(size_t value) { return fmt::format("{}", value); }
std::string value_text(const std::optional<size_t>& value) { return fmt::format("{}", value.value_or(0)); }
std::string value_text(bool value) { return value ? "true" : "false"; }
std::string value_text(Initial value) { return toml_text(name_of(value)); }

// The names of the values that the layer reads.
std::string inputs_text(const ModelSpec& model, const LayerSpec& layer) {
  std::string text;
  for (const uint32_t value : layer.inputs) {
    text += text.empty() ? "" : ", ";
    text += value == 0 ? "\"input\"" : toml_text(model.layers[value - 1].name);
  }
  return layer.inputs.size() == 1 ? text : fmt::format("[{}]", text);
}

// All keys that define the layer, and other keys that differ from their defaults.
std::string layer_text(const ModelSpec& model, const LayerSpec& layer) {
  const LayerType& type = layer_type(layer.type);
  const LayerSpec defaults;
  std::string text = fmt::format("type = {}", toml_text(layer.type));
  if (!layer.name.empty()) text += fmt::format(", name = {}", toml_text(layer.name));
  if (!layer.inputs.empty()) text += fmt::format(", inputs = {}", inputs_text(model, layer));
  for (const LayerField& field : type.fields()) {
    std::visit(
        [&](auto member) {
          if (!field.required && layer.*member == defaults.*member) return;
          text += fmt::format(", {} = {}", field.key, value_text(layer.*member));
        },
        field.member);
  }
  if (type.makes_units(layer)) text += fmt::format(", droppable = {}", layer.droppable);
  return text;
}

}  // namespace

std::string model_toml(const ModelSpec& model) {
  std::string text =
      fmt::format("name = {}\ninput = [{}, {}, {}]  # channels, height, width\n", toml_text(model.name),
                  model.input.channels, model.input.height, model.input.width);
  if (!model.vocabulary.empty()) text += fmt::format("vocabulary = {}\n", toml_text(model.vocabulary));
  if (model.tensors) return text + tensor_model_toml(*model.tensors);
  text += "layer = [\n";
  for (const LayerSpec& layer : model.layers) text += fmt::format("  {{ {} }},\n", layer_text(model, layer));
  return text + "]\n";
}

}  // namespace subfleet
