#include <cmath>

#include "base/wide_vectors.h"
#include "nn/cpu/lanes.h"
#include "nn/cpu/layer.h"
#include "nn/normalisation.h"

namespace subfleet::cpu {
namespace {

// As in reference/normalisation.cpp, of a sequence that lies step by step: a row of features for each step of
// each example.
class LayerNorm final : public Layer {
 public:
  LayerNorm(BufferPlan& buffer, const PlanSite& site)
      : rows_(site.batch * site.site.input.height), units_(site.site.input.channels) {
    const auto layout = step_by_step_layout(site.batch, site.site.input);
    input_.values = buffer.reserve_copy(site.input.values, layout);
    fetch_values_ = make_reorder(buffer, site.input.values, input_.values);
    output_.values = buffer.reserve(layout);
    scales_ = buffer.reserve(plain_layout(1, {.channels = rows_}));
    if (!site.training) return;
    normal_ = buffer.reserve(layout);
    output_.gradient = buffer.reserve(layout);
    weight_gradient_ = buffer.reserve(plain_layout(1, {.channels = 2 * units_}));
    if (!site.input.gradient) return;
    input_.gradient = buffer.reserve_copy(site.input.gradient, layout);
    deliver_gradient_ = make_reorder(buffer, input_.gradient, site.input.gradient);
  }

  const Flow& output() const override { return output_; }

  void forward(const dnnl::stream& stream, std::span<const float> weights) override {
    fetch_values_.run(stream);
    on_wide_vectors([&] {
      for (size_t row = 0; row < rows_; ++row) normalise(weights.data(), row);
    });
  }

  void backward(const dnnl::stream& stream, std::span<float> weights, float client_lr) override {
    float* gradient = data(weight_gradient_);
    std::fill_n(gradient, 2 * units_, 0.0f);
    on_wide_vectors([&] {
      for (size_t row = 0; row < rows_; ++row) go_back(weights.data(), row, gradient);
#pragma omp simd
      for (size_t i = 0; i < 2 * units_; ++i) weights[i] -= client_lr * gradient[i];
    });
    deliver_gradient_.run(stream);
  }

 private:
  void normalise(const float* weights, size_t row) {
    const float* x = data(input_.values) + row * units_;
    float* y = data(output_.values) + row * units_;
    const auto count = static_cast<float>(units_);
    const float mean = lane_sum(units_, [&](size_t i) { return x[i]; }) / count;
    const float variance = lane_sum(units_, [&](size_t i) { return (x[i] - mean) * (x[i] - mean); }) / count;
    const float scale = 1 / std::sqrt(variance + static_cast<float>(kNormalisationEpsilon));
    data(scales_)[row] = scale;
    float* normal = normal_ ? data(normal_) + row * units_ : y;
#pragma omp simd
    for (size_t i = 0; i < units_; ++i) normal[i] = (x[i] - mean) * scale;
#pragma omp simd
    for (size_t i = 0; i < units_; ++i) y[i] = weights[i] * normal[i] + weights[units_ + i];
  }

  void go_back(const float* weights, size_t row, float* gradient) {
    const float* dy = data(output_.gradient) + row * units_;
    const float* normal = data(normal_) + row * units_;
#pragma omp simd
    for (size_t i = 0; i < units_; ++i) {
      gradient[i] += dy[i] * normal[i];
      gradient[units_ + i] += dy[i];
    }
    if (!input_.gradient) return;
    const auto count = static_cast<float>(units_);
    const float scale = data(scales_)[row];
    const float sum = lane_sum(units_, [&](size_t i) { return dy[i] * weights[i]; }) / count;
    const float product = lane_sum(units_, [&](size_t i) { return dy[i] * weights[i] * normal[i]; }) / count;
    float* dx = data(input_.gradient) + row * units_;
#pragma omp simd
    for (size_t i = 0; i < units_; ++i) dx[i] = scale * (dy[i] * weights[i] - sum - normal[i] * product);
  }

  size_t rows_, units_;
  Flow input_, output_;
  dnnl::memory normal_, scales_, weight_gradient_;
  Call fetch_values_, deliver_gradient_;
};

}  // namespace

std::unique_ptr<Layer> make_layernorm(BufferPlan& buffer, const PlanSite& site) {
  return std::make_unique<LayerNorm>(buffer, site);
}

}  // namespace subfleet::cpu
