#include "base/wide_vectors.h"
#include "nn/cpu/layer.h"

namespace subfleet::cpu {
namespace {

class Scale final : public Layer {
 public:
  Scale(BufferPlan& buffer, const PlanSite& site) : input_(site.input) {
    const dnnl::memory::desc layout = input_.values.get_desc();
    count_ = layout.get_size() / sizeof(float);
    output_.values = buffer.reserve(layout);
    if (site.training) output_.gradient = buffer.reserve(layout);
  }

  const Flow& output() const override { return output_; }

  void forward(const dnnl::stream&, std::span<const float> weights) override {
    multiply(data(input_.values), weights[0], data(output_.values));
  }

  void backward(const dnnl::stream&, std::span<float> weights, float client_lr) override {
    const float* x = data(input_.values);
    const float* dy = data(output_.gradient);
    double gradient = 0;  // what pads a layout is zero
    for (size_t i = 0; i < count_; ++i) gradient += static_cast<double>(dy[i]) * static_cast<double>(x[i]);
    if (input_.gradient) multiply(dy, weights[0], data(input_.gradient));
    weights[0] -= client_lr * static_cast<float>(gradient);
  }

 private:
  void multiply(const float* from, float factor, float* to) const {
    on_wide_vectors([&] {
#pragma omp simd
      for (size_t i = 0; i < count_; ++i) to[i] = factor * from[i];
    });
  }

  Flow input_, output_;
  size_t count_ = 0;
};

}  // namespace

std::unique_ptr<Layer> make_scale(BufferPlan& buffer, const PlanSite& site) {
  return std::make_unique<Scale>(buffer, site);
}

}  // namespace subfleet::cpu
