#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/model_keys.h"
#include "model/tensor_model.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

// "conv1", or { group = "conv1", inner = 49 }.
AxisPart read_part(const std::string& what, const toml::node& node) {
  if (node.is_string()) return {.group = read_text(what, node)};
  const toml::table* table = node.as_table();
  if (table == nullptr)
    throw bad_request(what, "must be a group's name, or { group = \"conv1\", inner = 49 }");
  check_keys(what, *table, {"group", "outer", "inner"});
  AxisPart part;
  if (const toml::node* group = table->get("group")) part.group = read_text(at_key(what, "group"), *group);
  if (const toml::node* outer = table->get("outer")) part.outer = read_count(at_key(what, "outer"), *outer);
  if (const toml::node* inner = table->get("inner")) part.inner = read_count(at_key(what, "inner"), *inner);
  return part;
}

std::vector<AxisPart> read_parts(const std::string& what, const toml::node* node) {
  if (node == nullptr) return {};
  const toml::array* list = node->as_array();
  if (list == nullptr) return {read_part(what, *node)};
  std::vector<AxisPart> parts;
  for (const toml::node& part : *list) parts.push_back(read_part(what, part));
  return parts;
}

std::vector<size_t> read_shape(const std::string& what, const toml::node& node) {
  const toml::array* list = node.as_array();
  if (list == nullptr) throw bad_request(what, "must be a list of extents, as in [64, 3, 3, 3]");
  std::vector<size_t> shape;
  for (const toml::node& extent : *list) shape.push_back(read_count(what, extent));
  return shape;
}

template <typename Read>
void for_each_table(const toml::table& table, const std::string& key, Read&& read) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return;
  const toml::array* list = node->as_array();
  if (list == nullptr) throw bad_request(key, fmt::format("must be a list, each one [[{}]]", key));
  for (size_t i = 0; i < list->size(); ++i) {
    const toml::table* entry = list->at(i).as_table();
    if (entry == nullptr) throw bad_request(key, fmt::format("must be a list, each one [[{}]]", key));
    read(fmt::format("{} {}", key, i + 1), *entry);
  }
}

std::string part_text(const AxisPart& part) {
  if (part.group.empty()) return fmt::format("{{ inner = {} }}", part.inner);
  if (part.outer == 1 && part.inner == 1) return fmt::format("\"{}\"", part.group);
  std::string text = fmt::format("{{ group = \"{}\"", part.group);
  if (part.outer != 1) text += fmt::format(", outer = {}", part.outer);
  if (part.inner != 1) text += fmt::format(", inner = {}", part.inner);
  return text + " }";
}

std::string parts_text(std::string_view key, const std::vector<AxisPart>& parts) {
  if (parts.empty()) return {};
  std::vector<std::string> texts;
  for (const AxisPart& part : parts) texts.push_back(part_text(part));
  if (texts.size() == 1) return fmt::format(", {} = {}", key, texts.front());
  return fmt::format(", {} = [{}]", key, fmt::join(texts, ", "));
}

}  // namespace

TensorModel read_tensor_model(const toml::table& table) {
  TensorModel model{.outputs = read_count("outputs", required("", table, "outputs", "outputs = 10"))};
  for_each_table(table, "group", [&](const std::string& where, const toml::table& entry) {
    check_keys(where, entry, {"name", "units", "droppable"});
    TensorModel::Group group{
        .name = read_text(at_key(where, "name"), required(where, entry, "name", "name = \"conv1\"")),
        .units = read_count(at_key(where, "units"), required(where, entry, "units", "units = 64"))};
    if (const toml::node* droppable = entry.get("droppable"))
      group.droppable = read_flag(at_key(where, "droppable"), *droppable);
    model.groups.push_back(std::move(group));
  });
  for_each_table(table, "tensor", [&](const std::string& where, const toml::table& entry) {
    check_keys(where, entry, {"name", "shape", "rows", "columns", "statistic"});
    TensorModel::Tensor tensor{
        .name = read_text(at_key(where, "name"), required(where, entry, "name", "name = \"conv1.weight\"")),
        .shape = read_shape(at_key(where, "shape"), required(where, entry, "shape", "shape = [64, 3, 3, 3]")),
        .rows = read_parts(at_key(where, "rows"), entry.get("rows")),
        .columns = read_parts(at_key(where, "columns"), entry.get("columns"))};
    if (const toml::node* statistic = entry.get("statistic"))
      tensor.statistic = read_flag(at_key(where, "statistic"), *statistic);
    model.tensors.push_back(std::move(tensor));
  });
  return model;
}

std::string tensor_model_toml(const TensorModel& model) {
  std::string text = fmt::format("outputs = {}\ngroup = [\n", model.outputs);
  for (const TensorModel::Group& group : model.groups) {
    text += fmt::format("  {{ name = \"{}\", units = {}, droppable = {} }},\n", group.name, group.units,
                        group.droppable);
  }
  text += "]\ntensor = [\n";
  for (const TensorModel::Tensor& tensor : model.tensors) {
    text += fmt::format("  {{ name = {}, shape = [{}]{}{}{} }},\n", toml_text(tensor.name),
                        fmt::join(tensor.shape, ", "), parts_text("rows", tensor.rows),
                        parts_text("columns", tensor.columns), tensor.statistic ? ", statistic = true" : "");
  }
  return text + "]\n";
}

}  // namespace subfleet
