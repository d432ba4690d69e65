#include "base/wide_vectors.h"
#include "nn/cpu/layer.h"

namespace subfleet::cpu {
namespace {

// Everything lies step by step, one row per example.
class Position final : public Layer {
 public:
  Position(BufferPlan& buffer, const PlanSite& site)
      : batch_(site.batch), steps_(site.site.input.height), units_(site.site.input.channels) {
    const auto layout = step_by_step_layout(batch_, site.site.input);
    input_.values = buffer.reserve_copy(site.input.values, layout);
    fetch_values_ = make_reorder(buffer, site.input.values, input_.values);
    output_.values = buffer.reserve(layout);
    if (!site.training) return;
    if (!site.input.gradient) {
      output_.gradient = buffer.reserve(layout);
      return;
    }
    output_.gradient = buffer.reserve_copy(site.input.gradient, layout);  // it is passed on as it is
    deliver_gradient_ = make_reorder(buffer, output_.gradient, site.input.gradient);
  }

  const Flow& output() const override { return output_; }

  void forward(const dnnl::stream& stream, std::span<const float> weights) override {
    fetch_values_.run(stream);
    const float* x = data(input_.values);
    float* y = data(output_.values);
    on_wide_vectors([&] {
      for (size_t row = 0; row < steps_ * batch_; ++row) {
        const float* weight = weights.data() + row / batch_ * units_;
#pragma omp simd
        for (size_t u = 0; u < units_; ++u) y[row * units_ + u] = x[row * units_ + u] + weight[u];
      }
    });
  }

  void backward(const dnnl::stream& stream, std::span<float> weights, float client_lr) override {
    const float* dy = data(output_.gradient);
    on_wide_vectors([&] {
      for (size_t row = 0; row < steps_ * batch_; ++row) {
        float* weight = weights.data() + row / batch_ * units_;
#pragma omp simd
        for (size_t u = 0; u < units_; ++u) weight[u] -= client_lr * dy[row * units_ + u];
      }
    });
    deliver_gradient_.run(stream);
  }

 private:
  size_t batch_, steps_, units_;
  Flow input_, output_;
  Call fetch_values_, deliver_gradient_;
};

}  // namespace

std::unique_ptr<Layer> make_position(BufferPlan& buffer, const PlanSite& site) {
  return std::make_unique<Position>(buffer, site);
}

}  // namespace subfleet::cpu
