#include "model/window.h"
#include "nn/cpu/kernels.h"
#include "nn/cpu/layer.h"

namespace subfleet::cpu {
namespace {

using dnnl::memory;

class WinogradConv2D final : public Layer {
 public:
  WinogradConv2D(BufferPlan& buffer, const PlanSite& site)
      : size_{.batch = site.batch,
              .in = site.site.input.channels,
              .out = site.site.output.channels,
              .height = site.site.input.height,
              .width = site.site.input.width,
              .training = site.training} {
    const memory::desc in = in_blocks(site.batch, site.site.input);
    const memory::desc out = in_blocks(site.batch, site.site.output);
    input_.values = buffer.reserve_copy(site.input.values, in);
    fetch_values_ = make_reorder(buffer, site.input.values, input_.values);
    output_.values = buffer.reserve(out);
    scratch_ = buffer.reserve(plain_layout(1, {.channels = scratch_floats(size_)}));
    if (!site.training) return;
    output_.gradient = buffer.reserve(out);
    if (!site.input.gradient) return;
    input_.gradient = buffer.reserve_copy(site.input.gradient, in);
    deliver_gradient_ = make_reorder(buffer, input_.gradient, site.input.gradient);
  }

  const Flow& output() const override { return output_; }

  void forward(const dnnl::stream& stream, std::span<const float> weights) override {
    fetch_values_.run(stream);
    kernels_.conv_forward({.size = size_,
                           .x = data(input_.values),
                           .w = weights.data(),
                           .bias = weights.data() + filters(),
                           .y = data(output_.values),
                           .scratch = data(scratch_)});
  }

  void backward(const dnnl::stream& stream, std::span<float> weights, float client_lr) override {
    kernels_.conv_backward({.size = size_,
                            .dy = data(output_.gradient),
                            .client_lr = client_lr,
                            .w = weights.data(),
                            .bias = weights.data() + filters(),
                            .dx = input_.gradient ? data(input_.gradient) : nullptr,
                            .scratch = data(scratch_)});
    deliver_gradient_.run(stream);
  }

 private:
  static memory::desc in_blocks(size_t batch, const Shape& shape) {
    return {plain_layout(batch, shape).dims(), memory::data_type::f32, memory::format_tag::nChw16c};
  }
  size_t filters() const { return size_.out * size_.in * 25; }

  const Kernels& kernels_ = kernels();
  ConvSize size_;
  Flow input_, output_;  // both in blocks of channels
  memory scratch_;
  Call fetch_values_, deliver_gradient_;
};

}  // namespace

bool suits_winograd(const LayerSite& site) {
  constexpr size_t kLanes = 16;
  const LayerSpec& spec = site.spec;
  return spec.kernel == 5 && spec.stride == 1 && convolution_window(spec).padding == 2 && spec.groups == 1 &&
         spec.bias && site.input.channels % kLanes == 0 && site.output.channels % kLanes == 0;
}

std::unique_ptr<Layer> make_winograd_conv2d(BufferPlan& buffer, const PlanSite& site) {
  return std::make_unique<WinogradConv2D>(buffer, site);
}

}  // namespace subfleet::cpu
