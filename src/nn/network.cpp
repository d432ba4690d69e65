#include "nn/network.h"

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

}  // namespace subfleet
