#include "nn/cpu/layer.h"
#include "nn/cpu/pool_geometry.h"

namespace subfleet::cpu {
namespace {

class MaxPool final : public WeightlessLayer {
 public:
  MaxPool(BufferPlan& buffer, const PlanSite& site) {
    using Forward = dnnl::pooling_forward;
    using Backward = dnnl::pooling_backward;
    const PoolGeometry pool = pool_geometry(site.site);
    const dnnl::memory::desc input = site.input.values.get_desc();
    const dnnl::memory::desc any(plain_layout(site.batch, site.site.output).dims(),
                                 dnnl::memory::data_type::f32, dnnl::memory::format_tag::any);

    const Forward::primitive_desc forward(
        {site.training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference,
         dnnl::algorithm::pooling_max, input, any, pool.stride, pool.window, pool.pad, pool.pad_behind},
        scratchpad_in_buffer(), buffer.engine());
    output_.values = buffer.reserve(forward.dst_desc());
    Arguments arguments{{DNNL_ARG_SRC, site.input.values}, {DNNL_ARG_DST, output_.values}};
    dnnl::memory chosen;  // which of a window's values was the largest
    if (site.training) {
      chosen = buffer.reserve(forward.workspace_desc());
      arguments.emplace_back(DNNL_ARG_WORKSPACE, chosen);
    }
    forward_ = make_call<Forward>(buffer, forward, arguments);
    if (!site.input.gradient) return;

    output_.gradient = buffer.reserve(forward.dst_desc());
    const Backward::primitive_desc backward({dnnl::algorithm::pooling_max, input, forward.dst_desc(),
                                             pool.stride, pool.window, pool.pad, pool.pad_behind},
                                            scratchpad_in_buffer(), buffer.engine(), forward);
    backward_ = make_call<Backward>(buffer, backward,
                                    {{DNNL_ARG_DIFF_SRC, site.input.gradient},
                                     {DNNL_ARG_DIFF_DST, output_.gradient},
                                     {DNNL_ARG_WORKSPACE, chosen}});
  }
};

}  // namespace

std::unique_ptr<Layer> make_maxpool(BufferPlan& buffer, const PlanSite& site) {
  return std::make_unique<MaxPool>(buffer, site);
}

}  // namespace subfleet::cpu
