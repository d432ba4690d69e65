#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "checks.h"
#include "commands.h"
#include "help.h"
#include "named_model.h"
#include "subfleet/base/text.h"
#include "subfleet/codes.h"
#include "subfleet/error.h"
#include "subfleet/layer_sites.h"
#include "subfleet/round.h"
#include "subfleet/submodel.h"

namespace subfleet::cli {
namespace {

using Json = nlohmann::ordered_json;
using Table = std::vector<std::vector<std::string>>;

constexpr size_t kBytesPerWeight = 4;

struct ModelCommandOptions {
  std::string model;  // a name of the zoo or a file; empty: list the zoo
  std::vector<double> keep{1, 0.75, 0.5, 0.25};
  uint32_t batch = LocalTraining().batch;  // of the memory that training takes
  bool json = false;
  bool toml = false;
};

// "6,603,710".
std::string with_commas(size_t number) {
  std::string text = fmt::format("{}", number);
  for (size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, ",");
  return text;
}

// "76.2 M": with three digits.
std::string human_count(double count) {
  constexpr std::string_view kUnits = " kMGTP";
  size_t unit = 0;
  for (; count >= 999.5 && unit + 1 < kUnits.size(); ++unit) count /= 1000;
  if (unit == 0) return fmt::format("{:.0f}", count);
  return fmt::format("{:.{}f} {}", count, count >= 99.95 ? 0 : count >= 9.995 ? 1 : 2, kUnits[unit]);
}

// What a client gets that keeps this fraction of every droppable layer's units.
struct SubModelSize {
  double keep = 1;
  size_t parameters = 0;
  double operations = 0;  // of training, per example
  uint64_t memory = 0;    // of training
  size_t bytes() const { return parameters * kBytesPerWeight; }
};

SubModelSize size_at(const ModelSpec& model, double keep, uint32_t batch) {
  std::vector<std::vector<uint32_t>> kept;
  for (const UnitGroup& group : droppable_groups(model)) {
    kept.emplace_back(code_family("random").weight(group.units, keep));
    std::iota(kept.back().begin(), kept.back().end(), 0u);
  }
  const SubModel sub(model, kept);
  return {.keep = keep,
          .parameters = sub.size(),
          .operations = training_operations(sub.spec()),
          .memory = training_bytes(sub.spec(), batch)};
}

double forward_operations(const ModelSpec& model) {
  double total = 0;
  for (const LayerSite& site : layer_sites(model)) total += forward_operations(site);
  return total;
}

uint64_t count_of(double operations) { return static_cast<uint64_t>(operations); }

Json shape_json(const Shape& shape) { return {shape.channels, shape.height, shape.width}; }

// "64x14x14", or "2048" once flat.
std::string short_shape(const Shape& shape) {
  return shape.height == 1 && shape.width == 1 ? fmt::format("{}", shape.channels) : shape_text(shape);
}

// The numbers of the layers whose outputs it reads, if that is not the one before alone.
std::string reads(const LayerSpec& layer) {
  std::vector<std::string> names;
  for (const uint32_t value : layer.inputs) names.push_back(value == 0 ? "input" : std::to_string(value));
  return fmt::format("{}", fmt::join(names, ", "));
}

void print_layers(const ModelSpec& model) {
  const bool is_chain =
      std::ranges::all_of(model.layers, [](const LayerSpec& layer) { return layer.inputs.empty(); });
  Table lines{{"", "layer", "name", "droppable", "output", "parameters", "operations"}};
  if (!is_chain) lines[0].insert(lines[0].begin() + 3, "reads");
  for (const LayerSite& site : layer_sites(model)) {
    const bool learns = site.weights_count > 0;
    const double operations = forward_operations(site);
    std::vector<std::string> line{fmt::format("{}", lines.size()),
                                  site.spec.type,
                                  site.spec.name,
                                  site.spec.droppable ? "yes"
                                  : learns            ? "no"
                                                      : "",
                                  short_shape(site.output),
                                  learns ? with_commas(site.weights_count) : "-",
                                  operations > 0 ? human_count(operations) : "-"};
    if (!is_chain) line.insert(line.begin() + 3, reads(site.spec));
    lines.push_back(std::move(line));
  }
  std::vector<std::string> total(lines[0].size());
  total[1] = "total";
  total[total.size() - 2] = with_commas(parameter_count(model));
  total.back() = human_count(forward_operations(model));
  lines.push_back(std::move(total));
  fmt::print("{}", align_table(lines, is_chain ? "rllllrr" : "rlllllrr"));
}

// Of a model of tensors: how many of them have an axis of each group.
void print_tensors(const TensorModel& model) {
  Table lines{{"group", "units", "droppable", "tensors"}};
  for (const TensorModel::Group& group : model.groups) {
    const auto is_of = [&](const AxisPart& part) { return part.group == group.name; };
    const auto count = std::ranges::count_if(model.tensors, [&](const TensorModel::Tensor& tensor) {
      return std::ranges::any_of(tensor.rows, is_of) || std::ranges::any_of(tensor.columns, is_of);
    });
    lines.push_back({group.name, fmt::format("{}", group.units), group.droppable ? "yes" : "no",
                     fmt::format("{}", count)});
  }
  fmt::print("{}", align_table(lines, "lrlr"));
  fmt::print("\n{} tensors; the program that the model comes from trains and tests it.\n",
             model.tensors.size());
}

// Where layers share their units, which do.
void print_groups(const ModelSpec& model) {
  const std::vector<UnitGroup> groups = unit_groups(model);
  if (std::ranges::all_of(groups, [](const UnitGroup& group) { return group.layers.size() == 1; })) return;
  Table lines{{"group", "units", "droppable", "made by"}};
  for (const UnitGroup& group : groups) {
    std::vector<std::string> makers;
    for (const size_t i : group.layers) makers.push_back(model.layers[i].name);
    lines.push_back({group.name, fmt::format("{}", group.units), group.droppable ? "yes" : "no",
                     fmt::format("{}", fmt::join(makers, " "))});
  }
  fmt::print("\nUnits that are dropped together:\n\n{}", align_table(lines, "lrll"));
}

void print_sizes(const ModelSpec& model, const std::vector<double>& fractions, uint32_t batch) {
  const auto whole = static_cast<double>(parameter_count(model));
  Table lines{{"kept units", "parameters", "of all", "bytes"}};
  if (!model.tensors) lines[0].insert(lines[0].end(), {"operations", "memory"});
  for (const double keep : fractions) {
    const SubModelSize size = size_at(model, keep, batch);
    lines.push_back({fmt::format("{:g}", keep), with_commas(size.parameters),
                     human_percent(static_cast<double>(size.parameters) / whole),
                     human_bytes(static_cast<double>(size.bytes()))});
    if (model.tensors) continue;
    lines.back().insert(lines.back().end(),
                        {human_count(size.operations), human_bytes(static_cast<double>(size.memory))});
  }
  fmt::print("{}", align_table(lines, "rrrrrr"));
}

void print_model(const ModelSpec& model, const ModelCommandOptions& options) {
  fmt::print("{}: {} in, {} classes, {} parameters\n\n", model.name, shape_text(model.input),
             class_count(model), with_commas(parameter_count(model)));
  if (model.tensors) {
    print_tensors(*model.tensors);
  } else {
    print_layers(model);
    print_groups(model);
  }
  if (droppable_groups(model).empty()) {
    fmt::print("\nNo layer is droppable: every client holds the whole model.\n");
    return;
  }
  fmt::print("\nA client's sub-model, by the kept fraction of the droppable layers' units:\n\n");
  print_sizes(model, options.keep, options.batch);
  if (model.tensors) return;
  fmt::print(
      "\nOperations are floating-point and per example: forward for a layer, forward and\n"
      "backward for a sub-model. Bytes are 4 per weight. Memory, about: what training with a\n"
      "batch of {} keeps of weights and of what layers make, with gradients.\n",
      options.batch);
}

Json model_json(const ModelSpec& model, const ModelCommandOptions& options) {
  Json layers = Json::array(), groups = Json::array(), sizes = Json::array();
  for (const LayerSite& site : layer_sites(model)) {
    layers.push_back({{"type", site.spec.type},
                      {"name", site.spec.name},
                      {"inputs", site.inputs},
                      {"output", shape_json(site.output)},
                      {"parameters", site.weights_count},
                      {"droppable", site.spec.droppable},
                      {"forward_operations", count_of(forward_operations(site))}});
  }
  for (const UnitGroup& group : unit_groups(model)) {
    groups.push_back({{"name", group.name},
                      {"units", group.units},
                      {"droppable", group.droppable},
                      {"layers", group.layers}});
  }
  const size_t whole = parameter_count(model);
  for (const double keep : options.keep) {
    const SubModelSize size = size_at(model, keep, options.batch);
    sizes.push_back({{"keep", keep},
                     {"parameters", size.parameters},
                     {"bytes", size.bytes()},
                     {"fraction", static_cast<double>(size.parameters) / static_cast<double>(whole)},
                     {"training_operations", count_of(size.operations)},
                     {"training_bytes", size.memory}});
  }
  return {{"name", model.name},
          {"input", shape_json(model.input)},
          {"classes", class_count(model)},
          {"parameters", whole},
          {"forward_operations", count_of(forward_operations(model))},
          {"training_operations", count_of(training_operations(model))},
          {"layers", layers},
          {"groups", groups},
          {"sizes", sizes}};
}

void list_zoo(bool json) {
  Table lines{{"model", "input", "classes", "layers", "parameters", "droppable"}};
  Json list = Json::array();
  for (const std::string& name : model_names()) {
    const ModelSpec model = find_model(name);
    std::vector<std::string> droppable;
    for (const UnitGroup& group : droppable_groups(model)) droppable.push_back(group.name);
    lines.push_back({name, shape_text(model.input), fmt::format("{}", class_count(model)),
                     fmt::format("{}", model.layers.size()), with_commas(parameter_count(model)),
                     droppable.empty()       ? "none"
                     : droppable.size() <= 7 ? fmt::format("{}", fmt::join(droppable, " "))
                                             : fmt::format("{} groups of units", droppable.size())});
    list.push_back({{"name", name},
                    {"input", shape_json(model.input)},
                    {"classes", class_count(model)},
                    {"parameters", parameter_count(model)},
                    {"droppable", droppable}});
  }
  if (json) {
    fmt::print("{}\n", list.dump(2));
    return;
  }
  fmt::print("{}", align_table(lines, "llrrrl"));
  fmt::print(
      "\n'subfleet model NAME' shows one; 'subfleet model NAME --toml > FILE' begins a model of your own.\n");
}

void run(const ModelCommandOptions& options) {
  for (const double keep : options.keep) {
    if (!(keep > 0 && keep <= 1)) {
      throw bad_request("--keep", fmt::format("{} is not a fraction above 0 and up to 1", keep));
    }
  }
  if (options.model.empty()) {
    if (options.toml) throw bad_request("--toml", "which model? 'subfleet model' lists them");
    list_zoo(options.json);
    return;
  }
  const ModelSpec model = resolve_model(named_model(options.model));
  if (options.toml) {
    fmt::print("{}", model_toml(model));
  } else if (options.json) {
    fmt::print("{}\n", model_json(model, options).dump(2));
  } else {
    print_model(model, options);
  }
}

}  // namespace

void add_model_command(CLI::App& program) {
  auto options = std::make_shared<ModelCommandOptions>();
  CLI::App* command = program.add_subcommand(
      "model", "Show a network: layers, shapes, parameters, and the size of its sub-models");
  command
      ->add_option("MODEL", options->model,
                   "a model of the zoo or a model file; without it, the zoo is listed")
      ->check(not_empty());
  command
      ->add_option("--keep", options->keep,
                   "a kept fraction of the droppable layers' units; may be given again")
      ->allow_extra_args(false)
      ->type_name("F");
  command->add_option("--batch", options->batch, "the batch whose memory is shown")
      ->check(CLI::Range(1, 4096))
      ->type_name("N");
  CLI::Option* json = command->add_flag("--json", options->json, "print one JSON value");
  command->add_flag("--toml", options->toml, "print the model as a model file")->excludes(json);
  command->footer(footer("", {"subfleet model", "subfleet model emnist-cnn --keep 0.5",
                              "subfleet model emnist-cnn --toml > network.toml"}));
  command->callback([options] { run(*options); });
}

}  // namespace subfleet::cli
