#include "subfleet/submodel.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "model/graph.h"
#include "model/layers.h"
#include "model/tensor_model.h"
#include "subfleet/error.h"

namespace subfleet {
namespace {

using IndexSet = std::vector<uint32_t>;

IndexSet all_of(size_t count) {
  IndexSet set(count);
  std::iota(set.begin(), set.end(), 0u);
  return set;
}

std::vector<ColumnRun> runs_of(const IndexSet& columns) {
  std::vector<ColumnRun> runs;
  for (const uint32_t column : columns) {
    if (!runs.empty() && runs.back().from + runs.back().count == column) {
      ++runs.back().count;
    } else {
      runs.push_back({column, 1});
    }
  }
  return runs;
}

void check_kept(const UnitGroup& group, const IndexSet& kept) {
  const bool ascending = std::adjacent_find(kept.begin(), kept.end(), std::greater_equal<>()) == kept.end();
  if (kept.empty() || !ascending || kept.back() >= group.units) {
    throw bad_request(group.name,
                      fmt::format("kept units must be ascending, at least one and below {}", group.units));
  }
}

// Of each group, the kept units: `kept` says them of the droppable ones.
std::vector<IndexSet> kept_units(const ModelSpec& whole, const std::vector<UnitGroup>& groups,
                                 std::span<const IndexSet> kept) {
  const auto droppable = static_cast<size_t>(std::ranges::count_if(groups, &UnitGroup::droppable));
  if (kept.size() != droppable) {
    throw bad_request(whole.name,
                      fmt::format("{} index sets for {} droppable groups of units", kept.size(), droppable));
  }
  std::vector<IndexSet> units;
  for (const UnitGroup& group : groups) {
    if (group.droppable) {
      units.push_back(*kept.begin());
      kept = kept.subspan(1);
      check_kept(group, units.back());
    } else {
      units.push_back(all_of(group.units));
    }
  }
  return units;
}

// The features of these units.
IndexSet features_of(const IndexSet& units, size_t spread) {
  if (spread == 1) return units;
  IndexSet features;
  features.reserve(units.size() * spread);
  for (const uint32_t unit : units) {
    for (size_t i = 0; i < spread; ++i) features.push_back(static_cast<uint32_t>(unit * spread + i));
  }
  return features;
}

// Where the kept channels of each of `groups` equal parts of all channels end.
std::vector<uint32_t> ends_of_parts(const IndexSet& kept, size_t channels, size_t groups) {
  std::vector<uint32_t> ends(groups);
  for (size_t group = 0; group < groups; ++group) {
    const auto end = std::ranges::lower_bound(kept, (group + 1) * channels / groups);
    ends[group] = static_cast<uint32_t>(end - kept.begin());
  }
  return ends;
}

// The same members in each of `groups` stretches of `stride`.
IndexSet in_groups(const IndexSet& set, size_t groups, size_t stride) {
  IndexSet all;
  for (size_t group = 0; group < groups; ++group) {
    for (const uint32_t member : set) all.push_back(static_cast<uint32_t>(group * stride) + member);
  }
  return all;
}

const IndexSet& choose(Follows follows, const IndexSet& outputs, const IndexSet& inputs,
                       const IndexSet& whole) {
  switch (follows) {
    case Follows::kOutputs:
      return outputs;
    case Follows::kInputs:
      return inputs;
    case Follows::kNothing:
      break;
  }
  return whole;
}

}  // namespace

SubModel::SubModel(const ModelSpec& whole, std::span<const std::vector<uint32_t>> kept, bool rescale)
    : spec_(whole), kept_(kept.begin(), kept.end()), rescaled_(rescale) {
  if (whole.tensors) {
    const std::vector<IndexSet> units = kept_units(whole, tensor_groups(*whole.tensors), kept);
    const std::vector<ParameterSpec> tensors = tensor_parameters(*whole.tensors);
    for (size_t i = 0; i < tensors.size(); ++i) {
      KeptAxes axes = kept_axes(*whole.tensors, i, units);
      hold(tensors[i], std::move(axes.rows), axes.columns);
    }
    spec_.tensors = shrunk(*whole.tensors, units);
    return;
  }
  const ModelGraph graph = model_graph(whole);
  const std::vector<IndexSet> units = kept_units(whole, graph.groups, kept);
  const auto features = [&](size_t value) {
    return features_of(units[graph.units[value].group], graph.units[value].spread);
  };
  const auto factor = [&](size_t value) {
    const size_t group = graph.units[value].group;
    return rescale ? output_scale(graph.groups[group].units, units[group].size()) : 1.0f;
  };
  for (size_t i = 0; i < whole.layers.size(); ++i) {
    const LayerSpec& layer = whole.layers[i];
    const LayerType& type = layer_type(layer.type);
    const size_t input = graph.inputs[i].front(), output = i + 1;
    const IndexSet in = features(input), out = features(output);
    LayerSpec& own = spec_.layers[i];
    if (type.makes_units(layer)) {
      type.shrink(own, units[graph.units[output].group].size());
      if (graph.scaled_as_made[graph.units[output].group]) own.output_scale = factor(output);
      if (!graph.scaled_as_made[graph.units[input].group]) own.input_scale = factor(input);
    } else {
      type.shrink(own, in.size());
    }
    if (type.has_channel_groups())
      channel_groups_.push_back(ends_of_parts(in, graph.shapes[input].channels, layer.groups));
    for (const ParameterSpec& p : type.parameters(layer, graph.shapes[input])) {
      const IndexSet rows = choose(p.rows_follow, out, in, all_of(p.rows / p.row_groups));
      hold(p, in_groups(rows, p.row_groups, p.rows / p.row_groups),
           choose(p.columns_follow, out, in, all_of(p.columns)));
    }
  }
}

// The next tensor, of which these rows and columns are kept.
void SubModel::hold(const ParameterSpec& tensor, std::vector<uint32_t> rows,
                    const std::vector<uint32_t>& columns) {
  tensors_.push_back({.full_offset = whole_size_,
                      .sub_offset = size_,
                      .full_columns = tensor.columns,
                      .sub_columns = columns.size(),
                      .inner = tensor.inner,
                      .rows = std::move(rows),
                      .runs = runs_of(columns)});
  whole_size_ += tensor.size();
  size_ += tensors_.back().rows.size() * columns.size() * tensor.inner;
}

void SubModel::gather(std::span<const float> whole, std::span<float> sub) const {
  for_each_run([&](size_t full, size_t small, size_t count) {
    std::copy_n(whole.begin() + full, count, sub.begin() + small);
  });
}

void SubModel::scatter(std::span<const float> sub, std::span<float> whole) const {
  for_each_run([&](size_t full, size_t small, size_t count) {
    std::copy_n(sub.begin() + small, count, whole.begin() + full);
  });
}

SubModel whole_model(const ModelSpec& model) {
  std::vector<std::vector<uint32_t>> kept;
  for (const UnitGroup& group : droppable_groups(model)) kept.push_back(all_of(group.units));
  return {model, kept};
}

}  // namespace subfleet
