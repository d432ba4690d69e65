#include "nn/cpu/layer.h"

namespace subfleet::cpu {
namespace {

using Forward = dnnl::eltwise_forward;
using Backward = dnnl::eltwise_backward;

// In place, if nobody else reads the input: the layer before does not read its output again on the way back.
class Relu final : public WeightlessLayer {
 public:
  Relu(BufferPlan& buffer, const PlanSite& site) {
    const dnnl::memory::desc layout = site.input.values.get_desc();
    const bool in_place = !site.input.shared;
    output_.values = in_place ? site.input.values : buffer.reserve(layout);
    constexpr auto kRelu = dnnl::algorithm::eltwise_relu_use_dst_for_bwd;
    const Forward::primitive_desc forward({dnnl::prop_kind::forward_training, kRelu, layout},
                                          scratchpad_in_buffer(), buffer.engine());
    forward_ = make_call<Forward>(buffer, forward,
                                  {{DNNL_ARG_SRC, site.input.values}, {DNNL_ARG_DST, output_.values}});
    if (!site.input.gradient) return;
    output_.gradient = in_place ? site.input.gradient : buffer.reserve(layout);
    const Backward::primitive_desc backward({kRelu, layout, layout}, scratchpad_in_buffer(), buffer.engine(),
                                            forward);
    backward_ = make_call<Backward>(buffer, backward,
                                    {{DNNL_ARG_DST, output_.values},
                                     {DNNL_ARG_DIFF_DST, output_.gradient},
                                     {DNNL_ARG_DIFF_SRC, site.input.gradient}});
  }
};

// A function whose slope follows from what entered.
class Pointwise final : public WeightlessLayer {
 public:
  Pointwise(BufferPlan& buffer, const PlanSite& site, dnnl::algorithm function, float parameter = 0) {
    const dnnl::memory::desc layout = site.input.values.get_desc();
    output_.values = buffer.reserve(layout);
    const Forward::primitive_desc forward({dnnl::prop_kind::forward_training, function, layout, parameter},
                                          scratchpad_in_buffer(), buffer.engine());
    forward_ = make_call<Forward>(buffer, forward,
                                  {{DNNL_ARG_SRC, site.input.values}, {DNNL_ARG_DST, output_.values}});
    if (!site.input.gradient) return;
    output_.gradient = buffer.reserve(layout);
    const Backward::primitive_desc backward({function, layout, layout, parameter}, scratchpad_in_buffer(),
                                            buffer.engine(), forward);
    backward_ = make_call<Backward>(buffer, backward,
                                    {{DNNL_ARG_SRC, site.input.values},
                                     {DNNL_ARG_DIFF_DST, output_.gradient},
                                     {DNNL_ARG_DIFF_SRC, site.input.gradient}});
  }
};

}  // namespace

std::unique_ptr<Layer> make_gelu(BufferPlan& buffer, const PlanSite& site) {
  return std::make_unique<Pointwise>(buffer, site, dnnl::algorithm::eltwise_gelu_erf);
}

std::unique_ptr<Layer> make_relu(BufferPlan& buffer, const PlanSite& site) {
  return std::make_unique<Relu>(buffer, site);
}

std::unique_ptr<Layer> make_sigmoid(BufferPlan& buffer, const PlanSite& site) {
  return std::make_unique<Pointwise>(buffer, site, dnnl::algorithm::eltwise_logistic);
}

std::unique_ptr<Layer> make_silu(BufferPlan& buffer, const PlanSite& site) {
  return std::make_unique<Pointwise>(buffer, site, dnnl::algorithm::eltwise_swish, 1.0f);
}

std::unique_ptr<Layer> make_tanh(BufferPlan& buffer, const PlanSite& site) {
  return std::make_unique<Pointwise>(buffer, site, dnnl::algorithm::eltwise_tanh);
}

}  // namespace subfleet::cpu
