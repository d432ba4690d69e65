#include <array>
#include <string>
#include <vector>

#include "nn/reference/layer.h"
#include "subfleet/error.h"

namespace subfleet::reference {
namespace {

struct LayerEntry {
  std::string_view type;
  std::unique_ptr<Layer> (*make)(const LayerSite&);
};

constexpr std::array<LayerEntry, 8> kLayers{{
    {"avgpool", make_avgpool},
    {"conv2d", make_conv2d},
    {"dense", make_dense},
    {"embedding", make_embedding},
    {"flatten", make_flatten},
    {"lstm", make_lstm},
    {"maxpool", make_maxpool},
    {"relu", make_relu},
}};

}  // namespace

std::unique_ptr<Layer> make_layer(const LayerSite& site) {
  std::vector<std::string> known;
  for (const LayerEntry& entry : kLayers) {
    if (entry.type == site.spec.type) return entry.make(site);
    known.emplace_back(entry.type);
  }
  throw unknown_name("layer of the reference trainer", site.spec.type, known);
}

}  // namespace subfleet::reference
