#include "subfleet/submodel.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "model/layers.h"
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

void check_kept(const LayerSpec& layer, const IndexSet& kept) {
  const bool ascending = std::adjacent_find(kept.begin(), kept.end(), std::greater_equal<>()) == kept.end();
  if (kept.empty() || !ascending || kept.back() >= layer.units) {
    throw bad_request(layer.name,
                      fmt::format("kept units must be ascending, at least one and below {}", layer.units));
  }
}

// The same members in each of `groups` stretches of `stride`.
IndexSet in_groups(const IndexSet& set, size_t groups, size_t stride) {
  IndexSet all;
  for (size_t group = 0; group < groups; ++group) {
    for (const uint32_t member : set) all.push_back(static_cast<uint32_t>(group * stride) + member);
  }
  return all;
}

const IndexSet& choose(Follows follows, const IndexSet& units, const IndexSet& inputs,
                       const IndexSet& whole) {
  switch (follows) {
    case Follows::kUnits:
      return units;
    case Follows::kInputs:
      return inputs;
    case Follows::kNothing:
      break;
  }
  return whole;
}

}  // namespace

SubModel::SubModel(const ModelSpec& whole, std::span<const std::vector<uint32_t>> kept, bool rescale)
    : spec_(whole) {
  if (kept.size() != droppable_layers(whole).size()) {
    throw bad_request(whole.name, fmt::format("{} index sets for {} droppable layers", kept.size(),
                                              droppable_layers(whole).size()));
  }
  const std::vector<Shape> shapes = layer_shapes(whole);
  IndexSet features = all_of(whole.input.channels);  // the kept input features
  size_t next_kept = 0, full_offset = 0;
  for (size_t i = 0; i < whole.layers.size(); ++i) {
    const LayerSpec& layer = whole.layers[i];
    const LayerType& type = layer_type(layer.type);
    IndexSet units = all_of(layer.units);
    if (layer.droppable) {
      units = kept[next_kept++];
      check_kept(layer, units);
      spec_.layers[i].units = units.size();
      if (rescale) spec_.layers[i].output_scale = output_scale(layer.units, units.size());
    }
    for (const ParameterSpec& p : type.parameters(layer, shapes[i])) {
      const IndexSet columns = choose(p.columns_follow, units, features, all_of(p.columns));
      const IndexSet rows = choose(p.rows_follow, units, features, all_of(p.rows / p.row_groups));
      tensors_.push_back({.full_offset = full_offset,
                          .sub_offset = size_,
                          .full_columns = p.columns,
                          .sub_columns = columns.size(),
                          .inner = p.inner,
                          .rows = in_groups(rows, p.row_groups, p.rows / p.row_groups),
                          .runs = runs_of(columns)});
      full_offset += p.size();
      size_ += tensors_.back().rows.size() * columns.size() * p.inner;
    }
    features = layer.units > 0 ? units : type.pass(shapes[i], features);
  }
  whole_size_ = full_offset;
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
  for (const size_t layer : droppable_layers(model)) kept.push_back(all_of(model.layers[layer].units));
  return {model, kept};
}

}  // namespace subfleet
