#include "model/window.h"
#include "nn/cpu/layer.h"

namespace subfleet::cpu {
namespace {

using dnnl::memory;
using Forward = dnnl::convolution_forward;
using BackwardData = dnnl::convolution_backward_data;
using BackwardWeights = dnnl::convolution_backward_weights;

memory::desc any_layout(const memory::dims& shape) {
  return {shape, memory::data_type::f32, memory::format_tag::any};
}

// oneDNN chooses the layouts. The weights' truth stays plain: they are few, and copied into the layouts every
// step.
class Conv2D final : public Layer {
 public:
  Conv2D(BufferPlan& buffer, const PlanSite& site)
      : filter_(filter_of(site.site)),
        pad_(2, static_cast<dnnl_dim_t>(convolution_window(site.site.spec).padding)),
        pad_behind_{pad_behind(site.site, &Shape::height), pad_behind(site.site, &Shape::width)},
        stride_(2, static_cast<dnnl_dim_t>(site.site.spec.stride)),
        plain_filter_(filter_, memory::data_type::f32,
                      filter_.size() == 5 ? memory::format_tag::goihw : memory::format_tag::oihw),
        plain_bias_(site.site.spec.bias ? memory::desc({static_cast<dnnl_dim_t>(site.site.output.channels)},
                                                       memory::data_type::f32, memory::format_tag::x)
                                        : memory::desc()),
        weights_(plain_filter_, buffer.engine(), DNNL_MEMORY_NONE) {
    if (site.site.spec.bias) bias_ = memory(plain_bias_, buffer.engine(), DNNL_MEMORY_NONE);
    const memory::desc input = any_layout(site.input.values.get_desc().dims());
    const memory::desc output = any_layout(plain_layout(site.batch, site.site.output).dims());
    const Forward::primitive_desc forward(
        {site.training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference,
         dnnl::algorithm::convolution_direct, input, any_layout(filter_), plain_bias_, output, stride_, pad_,
         pad_behind_},
        scratchpad_in_buffer(), buffer.engine());
    plan_forward(buffer, site.input.values, forward);
    if (!site.training) return;
    output_.gradient = buffer.reserve(forward.dst_desc());
    if (site.input.gradient) plan_backward_data(buffer, site.input.gradient, {input, output}, forward);
    plan_backward_weights(buffer, site.input.values, {input, output}, forward);
  }

  const Flow& output() const override { return output_; }

  void forward(const dnnl::stream& stream, std::span<const float> weights) override {
    bind_weights(weights.data());
    for (const Call& call : forward_) call.run(stream);
  }

  void backward(const dnnl::stream& stream, std::span<float> weights, float client_lr) override {
    bind_weights(weights.data());
    for (const Call& call : backward_) call.run(stream);
    const size_t filter = plain_filter_.get_size() / sizeof(float);
    const float* filter_gradient = data(weights_gradient_);
    const float* bias_gradient = bias_ ? data(bias_gradient_) : nullptr;
    for (size_t i = 0; i < filter; ++i) weights[i] -= client_lr * filter_gradient[i];
    for (size_t i = filter; i < weights.size(); ++i) weights[i] -= client_lr * bias_gradient[i - filter];
  }

 private:
  struct Ends {
    memory::desc input, output;
  };

  void plan_forward(BufferPlan& buffer, const memory& input, const Forward::primitive_desc& forward) {
    const memory x = buffer.reserve_copy(input, forward.src_desc());
    const memory w = buffer.reserve_copy(weights_, forward.weights_desc());
    output_.values = buffer.reserve(forward.dst_desc());
    Arguments arguments{{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, w}};
    if (bias_) arguments.emplace_back(DNNL_ARG_BIAS, bias_);
    arguments.emplace_back(DNNL_ARG_DST, output_.values);
    forward_ = {make_reorder(buffer, input, x), make_reorder(buffer, weights_, w),
                make_call<Forward>(buffer, forward, std::move(arguments))};
  }

  void plan_backward_data(BufferPlan& buffer, const memory& input_gradient, const Ends& ends,
                          const Forward::primitive_desc& forward) {
    const BackwardData::primitive_desc backward(
        {dnnl::algorithm::convolution_direct, ends.input, any_layout(filter_), ends.output, stride_, pad_,
         pad_behind_},
        scratchpad_in_buffer(), buffer.engine(), forward);
    const memory dy = buffer.reserve_copy(output_.gradient, backward.diff_dst_desc());
    const memory w = buffer.reserve_copy(weights_, backward.weights_desc());
    const memory dx = buffer.reserve_copy(input_gradient, backward.diff_src_desc());
    backward_ = {
        make_reorder(buffer, output_.gradient, dy), make_reorder(buffer, weights_, w),
        make_call<BackwardData>(buffer, backward,
                                {{DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_WEIGHTS, w}, {DNNL_ARG_DIFF_SRC, dx}}),
        make_reorder(buffer, dx, input_gradient)};
  }

  void plan_backward_weights(BufferPlan& buffer, const memory& input, const Ends& ends,
                             const Forward::primitive_desc& forward) {
    const BackwardWeights::primitive_desc backward(
        {dnnl::algorithm::convolution_direct, ends.input, any_layout(filter_), plain_bias_, ends.output,
         stride_, pad_, pad_behind_},
        scratchpad_in_buffer(), buffer.engine(), forward);
    const memory x = buffer.reserve_copy(input, backward.src_desc());
    const memory dy = buffer.reserve_copy(output_.gradient, backward.diff_dst_desc());
    weights_gradient_ = buffer.reserve(plain_filter_);
    if (bias_) bias_gradient_ = buffer.reserve(plain_bias_);
    const memory dw = buffer.reserve_copy(weights_gradient_, backward.diff_weights_desc());
    backward_.push_back(make_reorder(buffer, input, x));
    backward_.push_back(make_reorder(buffer, output_.gradient, dy));
    Arguments arguments{{DNNL_ARG_SRC, x}, {DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_WEIGHTS, dw}};
    if (bias_) arguments.emplace_back(DNNL_ARG_DIFF_BIAS, bias_gradient_);
    backward_.push_back(make_call<BackwardWeights>(buffer, backward, std::move(arguments)));
    backward_.push_back(make_reorder(buffer, dw, weights_gradient_));
  }

  // oneDNN takes pointers to what it only reads as if it wrote there.
  void bind_weights(const float* weights) {
    auto* filter = const_cast<float*>(weights);
    weights_.set_data_handle(filter);
    if (bias_) bias_.set_data_handle(filter + plain_filter_.get_size() / sizeof(float));
  }

  // Depthwise, one filter per group in front.
  static memory::dims filter_of(const LayerSite& site) {
    const auto size = [](size_t count) { return static_cast<dnnl_dim_t>(count); };
    const size_t groups = site.spec.groups;
    memory::dims filter{size(site.output.channels / groups), size(site.input.channels / groups),
                        size(site.spec.kernel), size(site.spec.kernel)};
    if (groups > 1) filter.insert(filter.begin(), size(groups));
    return filter;
  }

  // Zeros behind the last row or column that a window meets; fewer than before the first, or even a part of
  // the image left out, where the stride does not end there.
  static dnnl_dim_t pad_behind(const LayerSite& site, size_t Shape::*side) {
    const Window window = convolution_window(site.spec);
    return static_cast<dnnl_dim_t>((site.output.*side - 1) * window.stride + window.kernel) -
           static_cast<dnnl_dim_t>(site.input.*side + window.padding);
  }

  memory::dims filter_, pad_, pad_behind_, stride_;
  memory::desc plain_filter_, plain_bias_;
  memory weights_, bias_;  // the caller's
  memory weights_gradient_, bias_gradient_;
  Flow output_;
  std::vector<Call> forward_, backward_;
};

}  // namespace

std::unique_ptr<Layer> make_conv2d(BufferPlan& buffer, const PlanSite& site) {
  if (suits_winograd(site.site)) return make_winograd_conv2d(buffer, site);
  return std::make_unique<Conv2D>(buffer, site);
}

}  // namespace subfleet::cpu
