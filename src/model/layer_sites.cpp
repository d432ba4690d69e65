#include "subfleet/layer_sites.h"

#include "model/layers.h"

namespace subfleet {

std::vector<LayerSite> layer_sites(const ModelSpec& model) {
  const std::vector<Shape> shapes = layer_shapes(model);
  std::vector<LayerSite> sites;
  size_t offset = 0;
  for (size_t i = 0; i < model.layers.size(); ++i) {
    const LayerSpec& spec = model.layers[i];
    size_t count = 0;
    for (const ParameterSpec& p : layer_type(spec.type).parameters(spec, shapes[i])) count += p.size();
    sites.push_back({.spec = spec,
                     .input = shapes[i],
                     .output = shapes[i + 1],
                     .weights_offset = offset,
                     .weights_count = count});
    offset += count;
  }
  return sites;
}

double forward_operations(const LayerSite& site) {
  return layer_type(site.spec.type).forward_operations(site.spec, site.input);
}

double training_operations(const ModelSpec& model) {
  double total = 0;
  bool learns_before = false;
  for (const LayerSite& site : layer_sites(model)) {
    total += forward_operations(site) * (learns_before ? 3 : 2);
    learns_before = learns_before || site.weights_count > 0;
  }
  return total;
}

}  // namespace subfleet
