#include <array>
#include <string>
#include <vector>

#include "nn/cpu/layer.h"
#include "subfleet/error.h"

namespace subfleet::cpu {
namespace {

struct LayerEntry {
  std::string_view type;
  std::unique_ptr<Layer> (*make)(BufferPlan&, const PlanSite&);
};

constexpr std::array kLayers{
    LayerEntry{"add", make_add},
    LayerEntry{"attention", make_attention},
    LayerEntry{"avgpool", make_avgpool},
    LayerEntry{"conv2d", make_conv2d},
    LayerEntry{"dense", make_dense},
    LayerEntry{"embedding", make_embedding},
    LayerEntry{"flatten", make_flatten},
    LayerEntry{"gelu", make_gelu},
    LayerEntry{"groupnorm", make_groupnorm},
    LayerEntry{"gru", make_gru},
    LayerEntry{"layernorm", make_layernorm},
    LayerEntry{"lstm", make_lstm},
    LayerEntry{"maxpool", make_maxpool},
    LayerEntry{"position", make_position},
    LayerEntry{"relu", make_relu},
    LayerEntry{"scale", make_scale},
    LayerEntry{"sigmoid", make_sigmoid},
    LayerEntry{"silu", make_silu},
    LayerEntry{"tanh", make_tanh},
};

}  // namespace

dnnl::memory::desc plain_layout(size_t batch, const Shape& shape) {
  return {{static_cast<dnnl_dim_t>(batch), static_cast<dnnl_dim_t>(shape.channels),
           static_cast<dnnl_dim_t>(shape.height), static_cast<dnnl_dim_t>(shape.width)},
          dnnl::memory::data_type::f32,
          dnnl::memory::format_tag::nchw};
}

dnnl::memory::desc step_by_step_layout(size_t batch, const Shape& shape) {
  const auto channels = static_cast<dnnl_dim_t>(shape.channels);
  const dnnl_dim_t place = static_cast<dnnl_dim_t>(batch) * channels;
  return {plain_layout(batch, shape).dims(), dnnl::memory::data_type::f32,
          dnnl::memory::dims{channels, 1, place * static_cast<dnnl_dim_t>(shape.width), place}};
}

float* data(const dnnl::memory& tensor) { return static_cast<float*>(tensor.get_data_handle()); }

std::unique_ptr<Layer> make_layer(BufferPlan& buffer, const PlanSite& site) {
  std::vector<std::string> known;
  for (const LayerEntry& entry : kLayers) {
    if (entry.type == site.site.spec.type) return entry.make(buffer, site);
    known.emplace_back(entry.type);
  }
  throw unknown_name("layer of the cpu trainer", site.site.spec.type, known);
}

}  // namespace subfleet::cpu
