#include "nn/cpu/layer.h"

namespace subfleet::cpu {
namespace {

// One window over all positions of a channel.
class AvgPool final : public WeightlessLayer {
 public:
  AvgPool(BufferPlan& buffer, const PlanSite& site) {
    using Forward = dnnl::pooling_forward;
    using Backward = dnnl::pooling_backward;
    constexpr auto kMean = dnnl::algorithm::pooling_avg_include_padding;  // there is no padding
    const dnnl::memory::dims window{static_cast<dnnl_dim_t>(site.site.input.height),
                                    static_cast<dnnl_dim_t>(site.site.input.width)};
    const dnnl::memory::dims none{0, 0};
    const dnnl::memory::desc input = site.input.values.get_desc();
    const dnnl::memory::desc any(plain_layout(site.batch, site.site.output).dims(),
                                 dnnl::memory::data_type::f32, dnnl::memory::format_tag::any);

    const Forward::primitive_desc forward(
        {site.training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference, kMean, input,
         any, window, window, none, none},
        scratchpad_in_buffer(), buffer.engine());
    output_.values = buffer.reserve(forward.dst_desc());
    forward_ = make_call<Forward>(buffer, forward,
                                  {{DNNL_ARG_SRC, site.input.values}, {DNNL_ARG_DST, output_.values}});
    if (!site.input.gradient) return;

    output_.gradient = buffer.reserve(forward.dst_desc());
    const Backward::primitive_desc backward({kMean, input, forward.dst_desc(), window, window, none, none},
                                            scratchpad_in_buffer(), buffer.engine(), forward);
    backward_ = make_call<Backward>(
        buffer, backward, {{DNNL_ARG_DIFF_SRC, site.input.gradient}, {DNNL_ARG_DIFF_DST, output_.gradient}});
  }
};

}  // namespace

std::unique_ptr<Layer> make_avgpool(BufferPlan& buffer, const PlanSite& site) {
  return std::make_unique<AvgPool>(buffer, site);
}

}  // namespace subfleet::cpu
