#include "model/tensor_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include "model/layers.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

constexpr size_t kMostGroups = 4096, kMostTensors = 16384, kMostParts = 4096, kMostAxes = 16;
constexpr size_t kMostUnits = size_t{1} << 24;
constexpr size_t kMostParameters = size_t{1} << 31;

// 0: the product is larger than any tensor may be.
size_t product(std::span<const size_t> factors) {
  size_t all = 1;
  for (const size_t factor : factors) {
    if (factor == 0 || factor > kMostParameters / all) return 0;
    all *= factor;
  }
  return all;
}

using Units = std::map<std::string_view, size_t>;  // of each group

Units units_of(const TensorModel& model) {
  Units units;
  for (const TensorModel::Group& group : model.groups) units.emplace(group.name, group.units);
  return units;
}

size_t units_of(const Units& units, const AxisPart& part) {
  return part.group.empty() ? 1 : units.at(part.group);
}

size_t size_of(const Units& units, const std::vector<AxisPart>& parts) {
  size_t size = 0;
  for (const AxisPart& part : parts) {
    const size_t factors[] = {part.outer, units_of(units, part), part.inner};
    size += product(factors);
  }
  return size;
}

// How many axes, from `first` on, hold so many values; empty if none do.
std::optional<size_t> axes_of(std::span<const size_t> shape, size_t first, size_t size) {
  for (size_t end = first + 1; end <= shape.size(); ++end) {
    if (product(shape.subspan(first, end - first)) == size) return end - first;
  }
  return std::nullopt;
}

// How the axes of a tensor are divided between rows, columns and what is inside.
struct Division {
  size_t row_axes = 0, column_axes = 0;
};

Division divide(const Units& units, const TensorModel::Tensor& tensor) {
  const std::string where = fmt::format("tensor '{}'", tensor.name);
  const auto count = [&](std::string_view what, const std::vector<AxisPart>& parts, size_t first) {
    if (parts.empty()) return size_t{0};
    const auto axes = axes_of(tensor.shape, first, size_of(units, parts));
    if (!axes) {
      throw bad_request(where, fmt::format("its {} have {} places, which is no product of its extents{}",
                                           what, size_of(units, parts), first > 0 ? " behind the rows" : ""));
    }
    return *axes;
  };
  Division division;
  division.row_axes = count("rows", tensor.rows, 0);
  if (tensor.rows.empty() && !tensor.columns.empty())
    throw bad_request(where, "has columns but no rows; say both, as in rows = { inner = 3 }");
  division.column_axes = count("columns", tensor.columns, division.row_axes);
  return division;
}

void check_parts(const std::string& where, const Units& units, const std::vector<AxisPart>& parts) {
  if (parts.size() > kMostParts) throw bad_request(where, "has too many parts");
  for (const AxisPart& part : parts) {
    if (part.group.empty() && part.outer != 1)
      throw bad_request(where, "a part without a group has an inner and no outer");
    if (!part.group.empty() && !units.contains(part.group)) {
      std::vector<std::string> known;
      for (const auto& [name, count] : units) known.emplace_back(name);
      throw unknown_name(fmt::format("{}: group", where), part.group, known);
    }
    const size_t factors[] = {part.outer, units_of(units, part), part.inner};
    if (product(factors) == 0) throw bad_request(where, "a part is empty or too large");
  }
}

void check_groups(const TensorModel& model) {
  if (model.groups.size() > kMostGroups)
    throw bad_request("group", fmt::format("{} are too many; at most {}", model.groups.size(), kMostGroups));
  std::set<std::string_view> names;
  for (const TensorModel::Group& group : model.groups) {
    check_layer_name("group", group.name);
    const std::string where = fmt::format("group '{}'", group.name);
    if (group.units == 0 || group.units > kMostUnits)
      throw bad_request(where, fmt::format("{} units; must be from 1 to {}", group.units, kMostUnits));
    if (!names.insert(group.name).second) throw bad_request(where, "is there twice");
  }
}

// A name of PyTorch's: "layers.0.weight".
void check_tensor_name(const std::string& name) {
  constexpr size_t kLongest = 256;
  const bool plain = std::ranges::all_of(name, [](unsigned char c) { return c > ' ' && c < 0x7f; });
  if (!name.empty() && name.size() <= kLongest && plain && name != "__metadata__") return;
  throw bad_request("tensor", fmt::format("the name '{}' must be 1 to {} plain characters", name, kLongest));
}

std::vector<uint32_t> kept_of(const Units& units, const std::map<std::string_view, size_t>& places,
                              const std::vector<AxisPart>& parts,
                              const std::vector<std::vector<uint32_t>>& kept) {
  static const std::vector<uint32_t> kOne{0};
  std::vector<uint32_t> all;
  size_t begin = 0;
  for (const AxisPart& part : parts) {
    const size_t count = units_of(units, part);
    const std::vector<uint32_t>& left = part.group.empty() ? kOne : kept[places.at(part.group)];
    for (size_t outer = 0; outer < part.outer; ++outer) {
      for (const uint32_t unit : left) {
        for (size_t i = 0; i < part.inner; ++i)
          all.push_back(static_cast<uint32_t>(begin + (outer * count + unit) * part.inner + i));
      }
    }
    begin += part.outer * count * part.inner;
  }
  return all;
}

}  // namespace

void check_tensor_model(const TensorModel& model) {
  if (model.outputs == 0 || model.outputs > kMostUnits)
    throw bad_request("outputs", fmt::format("is {}; must be from 1 to {}", model.outputs, kMostUnits));
  check_groups(model);
  if (model.tensors.empty()) throw bad_request("tensor", "there is none, so nothing can be learnt");
  if (model.tensors.size() > kMostTensors) {
    throw bad_request("tensor",
                      fmt::format("{} are too many; at most {}", model.tensors.size(), kMostTensors));
  }
  const Units units = units_of(model);
  std::set<std::string_view> names;
  size_t total = 0;
  bool statistics = false;
  for (const TensorModel::Tensor& tensor : model.tensors) {
    check_tensor_name(tensor.name);
    const std::string where = fmt::format("tensor '{}'", tensor.name);
    if (!names.insert(tensor.name).second) throw bad_request(where, "is there twice");
    if (statistics && !tensor.statistic)
      throw bad_request(where, "is learnt and stands behind a statistic; statistics come last");
    statistics = tensor.statistic;
    if (tensor.shape.size() > kMostAxes) throw bad_request(where, "has too many axes");
    const size_t size = product(tensor.shape);
    total += size;
    if (size == 0 || total > kMostParameters) {
      throw bad_request(
          where,
          fmt::format("is empty, or the model too large; at most {} values are supported", kMostParameters));
    }
    check_parts(fmt::format("{}: rows", where), units, tensor.rows);
    check_parts(fmt::format("{}: columns", where), units, tensor.columns);
    divide(units, tensor);
  }
}

std::vector<ParameterSpec> tensor_parameters(const TensorModel& model) {
  const Units units = units_of(model);
  std::vector<ParameterSpec> all;
  size_t offset = 0;
  for (const TensorModel::Tensor& tensor : model.tensors) {
    const std::span<const size_t> shape(tensor.shape);
    const Division division = divide(units, tensor);
    ParameterSpec parameter{.name = tensor.name,
                            .shape = tensor.shape,
                            .rows = product(shape.first(division.row_axes)),
                            .columns = product(shape.subspan(division.row_axes, division.column_axes)),
                            .inner = product(shape.subspan(division.row_axes + division.column_axes)),
                            .rows_follow = Follows::kNothing,
                            .statistic = tensor.statistic,
                            .offset = offset};
    offset += parameter.size();
    all.push_back(std::move(parameter));
  }
  return all;
}

std::vector<UnitGroup> tensor_groups(const TensorModel& model) {
  std::vector<UnitGroup> groups;
  for (const TensorModel::Group& group : model.groups)
    groups.push_back({.name = group.name, .units = group.units, .droppable = group.droppable, .layers = {}});
  return groups;
}

KeptAxes kept_axes(const TensorModel& model, size_t tensor, const std::vector<std::vector<uint32_t>>& kept) {
  const Units units = units_of(model);
  std::map<std::string_view, size_t> places;
  for (size_t i = 0; i < model.groups.size(); ++i) places.emplace(model.groups[i].name, i);
  const TensorModel::Tensor& own = model.tensors[tensor];
  return {
      .rows = own.rows.empty() ? std::vector<uint32_t>{0} : kept_of(units, places, own.rows, kept),
      .columns = own.columns.empty() ? std::vector<uint32_t>{0} : kept_of(units, places, own.columns, kept)};
}

TensorModel shrunk(const TensorModel& model, const std::vector<std::vector<uint32_t>>& kept) {
  const Units units = units_of(model);
  TensorModel left = model;
  for (size_t i = 0; i < left.groups.size(); ++i) left.groups[i].units = kept[i].size();
  const Units fewer = units_of(left);
  for (size_t i = 0; i < left.tensors.size(); ++i) {
    TensorModel::Tensor& tensor = left.tensors[i];
    const Division division = divide(units, model.tensors[i]);
    // Of axes that are seen as one, the last is the one whose places are dropped.
    const auto shrink = [&](size_t first, size_t count, const std::vector<AxisPart>& parts) {
      if (count == 0) return;
      const size_t before = product(std::span(tensor.shape).subspan(first, count - 1));
      tensor.shape[first + count - 1] = size_of(fewer, parts) / before;
    };
    shrink(0, division.row_axes, tensor.rows);
    shrink(division.row_axes, division.column_axes, tensor.columns);
  }
  return left;
}

}  // namespace subfleet
