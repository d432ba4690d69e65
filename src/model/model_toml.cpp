#include <fmt/format.h>

#include <string>

#include "model/initial_names.h"
#include "model/layers.h"

namespace subfleet {
namespace {

// A TOML text in quotes, of ASCII.
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

std::string value_text(size_t value) { return fmt::format("{}", value); }
std::string value_text(bool value) { return value ? "true" : "false"; }
std::string value_text(Initial value) { return toml_text(name_of(value)); }

// All keys that define the layer, and other keys that differ from their defaults.
std::string layer_text(const LayerSpec& layer) {
  const LayerType& type = layer_type(layer.type);
  const bool has_units = type.uses(&LayerSpec::units);
  const LayerSpec defaults;
  std::string text = fmt::format("type = {}", toml_text(layer.type));
  if (has_units) text += fmt::format(", name = {}", toml_text(layer.name));
  for (const LayerField& field : type.fields()) {
    std::visit(
        [&](auto member) {
          if (!field.required && layer.*member == defaults.*member) return;
          text += fmt::format(", {} = {}", field.key, value_text(layer.*member));
        },
        field.member);
  }
  if (has_units) text += fmt::format(", droppable = {}", layer.droppable);
  return text;
}

}  // namespace

std::string model_toml(const ModelSpec& model) {
  std::string text =
      fmt::format("name = {}\ninput = [{}, {}, {}]  # channels, height, width\n", toml_text(model.name),
                  model.input.channels, model.input.height, model.input.width);
  if (!model.vocabulary.empty()) text += fmt::format("vocabulary = {}\n", toml_text(model.vocabulary));
  text += "layer = [\n";
  for (const LayerSpec& layer : model.layers) text += fmt::format("  {{ {} }},\n", layer_text(layer));
  return text + "]\n";
}

}  // namespace subfleet
