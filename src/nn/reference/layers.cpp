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

// The network adds up what an `add` reads.
constexpr std::array kLayers{
    LayerEntry{"add", make_identity},        LayerEntry{"attention", make_attention},
    LayerEntry{"avgpool", make_avgpool},     LayerEntry{"conv2d", make_conv2d},
    LayerEntry{"dense", make_dense},         LayerEntry{"embedding", make_embedding},
    LayerEntry{"flatten", make_identity},    LayerEntry{"gelu", make_gelu},
    LayerEntry{"groupnorm", make_groupnorm}, LayerEntry{"gru", make_gru},
    LayerEntry{"layernorm", make_layernorm}, LayerEntry{"lstm", make_lstm},
    LayerEntry{"maxpool", make_maxpool},     LayerEntry{"position", make_position},
    LayerEntry{"relu", make_relu},           LayerEntry{"scale", make_scale},
    LayerEntry{"sigmoid", make_sigmoid},     LayerEntry{"silu", make_silu},
    LayerEntry{"tanh", make_tanh},
};

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
