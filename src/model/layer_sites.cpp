#include "subfleet/layer_sites.h"

#include <algorithm>

#include "model/graph.h"
#include "model/layers.h"

namespace subfleet {

std::vector<LayerSite> layer_sites(const ModelSpec& model) {
  const ModelGraph graph = model_graph(model);
  std::vector<LayerSite> sites;
  size_t offset = 0;
  for (size_t i = 0; i < model.layers.size(); ++i) {
    const LayerSpec& spec = model.layers[i];
    const Shape& input = graph.shapes[graph.inputs[i].front()];
    size_t count = 0;
    for (const ParameterSpec& p : layer_type(spec.type).parameters(spec, input)) count += p.size();
    sites.push_back({.spec = spec,
                     .input = input,
                     .output = graph.shapes[i + 1],
                     .inputs = graph.inputs[i],
                     .weights_offset = offset,
                     .weights_count = count});
    offset += count;
  }
  return sites;
}

std::vector<size_t> reader_counts(const std::vector<LayerSite>& sites) {
  std::vector<size_t> readers(sites.size() + 1, 0);
  readers.back() = 1;
  for (const LayerSite& site : sites) {
    for (const uint32_t value : site.inputs) ++readers[value];
  }
  return readers;
}

std::vector<bool> learning_values(const std::vector<LayerSite>& sites) {
  std::vector<bool> learns(sites.size() + 1, false);
  for (size_t i = 0; i < sites.size(); ++i) {
    learns[i + 1] = sites[i].weights_count > 0 ||
                    std::ranges::any_of(sites[i].inputs, [&](uint32_t value) { return learns[value]; });
  }
  return learns;
}

bool has_channel_groups(const LayerSpec& spec) { return layer_type(spec.type).has_channel_groups(); }

std::vector<uint32_t> equal_channel_groups(const LayerSite& site) {
  std::vector<uint32_t> ends(site.spec.groups);
  for (size_t group = 0; group < ends.size(); ++group) {
    ends[group] = static_cast<uint32_t>((group + 1) * site.input.channels / ends.size());
  }
  return ends;
}

double forward_operations(const LayerSite& site) {
  return layer_type(site.spec.type).forward_operations(site.spec, site.input);
}

uint64_t training_bytes(const ModelSpec& model, size_t batch) {
  uint64_t values = 2 * parameter_count(model);
  for (const LayerSite& site : layer_sites(model)) values += 2 * batch * site.output.size();
  return values * sizeof(float);
}

double training_operations(const ModelSpec& model) {
  const std::vector<LayerSite> sites = layer_sites(model);
  const std::vector<bool> learns = learning_values(sites);
  double total = 0;
  for (const LayerSite& site : sites) {
    total += forward_operations(site) * (learns[site.inputs.front()] ? 3 : 2);
  }
  return total;
}

}  // namespace subfleet
