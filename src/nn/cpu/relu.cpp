#include "nn/cpu/layer.h"

namespace subfleet::cpu {
namespace {

// In place: the layer before does not read its output again on the way back.
class Relu final : public WeightlessLayer {
 public:
  Relu(BufferPlan& buffer, const PlanSite& site) {
    output_ = site.input;
    using Forward = dnnl::eltwise_forward;
    using Backward = dnnl::eltwise_backward;
    constexpr auto kRelu = dnnl::algorithm::eltwise_relu_use_dst_for_bwd;
    const dnnl::memory::desc layout = output_.values.get_desc();
    const Forward::primitive_desc forward({dnnl::prop_kind::forward_training, kRelu, layout},
                                          scratchpad_in_buffer(), buffer.engine());
    forward_ =
        make_call<Forward>(buffer, forward, {{DNNL_ARG_SRC, output_.values}, {DNNL_ARG_DST, output_.values}});
    if (!output_.gradient) return;
    const Backward::primitive_desc backward({kRelu, layout, layout}, scratchpad_in_buffer(), buffer.engine(),
                                            forward);
    backward_ = make_call<Backward>(buffer, backward,
                                    {{DNNL_ARG_DST, output_.values},
                                     {DNNL_ARG_DIFF_DST, output_.gradient},
                                     {DNNL_ARG_DIFF_SRC, output_.gradient}});
  }
};

}  // namespace

std::unique_ptr<Layer> make_relu(BufferPlan& buffer, const PlanSite& site) {
  return std::make_unique<Relu>(buffer, site);
}

}  // namespace subfleet::cpu
