#include <algorithm>
#include <cmath>

#include "base/wide_vectors.h"
#include "nn/cpu/kernels.h"
#include "nn/cpu/lanes.h"
#include "nn/cpu/layer.h"
#include "nn/cpu/product.h"
#include "nn/cpu/sigmoid_tanh.h"

namespace subfleet::cpu {
namespace {

// As in reference/attention.cpp. Everything lies step by step, one row per example; a head of an example is
// read at that example's rows. The projections are one product for all steps of all examples.
class Attention final : public Layer {
 public:
  Attention(BufferPlan& buffer, const PlanSite& site)
      : batch_(site.batch),
        in_(site.site.input.channels),
        steps_(site.site.input.height),
        width_(site.site.output.channels),
        size_(site.site.spec.head_units),
        causal_(site.site.spec.causal),
        training_(site.training) {
    const auto input = step_by_step_layout(batch_, site.site.input);
    const auto output = step_by_step_layout(batch_, site.site.output);
    const auto projections = step_by_step_layout(batch_, {3 * width_, steps_, 1});
    input_.values = buffer.reserve_copy(site.input.values, input);
    fetch_values_ = make_reorder(buffer, site.input.values, input_.values);
    output_.values = buffer.reserve(output);
    projected_ = buffer.reserve(projections);
    const size_t kept = training_ ? batch_ * heads() : 1;
    shares_ = buffer.reserve(plain_layout(kept, {.channels = steps_ * steps_}));
    if (!training_) return;
    output_.gradient = buffer.reserve(output);
    projected_gradient_ = buffer.reserve(projections);
    share_gradients_ = buffer.reserve(plain_layout(1, {.channels = steps_ * steps_}));
    if (!site.input.gradient) return;
    input_.gradient = buffer.reserve_copy(site.input.gradient, input);
    deliver_gradient_ = make_reorder(buffer, input_.gradient, site.input.gradient);
  }

  const Flow& output() const override { return output_; }

  void forward(const dnnl::stream& stream, std::span<const float> weights) override {
    fetch_values_.run(stream);
    project(weights.data());
    for (size_t n = 0; n < batch_; ++n) {
      for (size_t head = 0; head < heads(); ++head) {
        float* shares = shares_of(n, head);
        multiply({.transpose_b = 'T',
                  .m = steps_,
                  .n = steps_,
                  .k = size_,
                  .alpha = 1 / std::sqrt(static_cast<float>(size_)),
                  .a = part(projected_, 0, n, head),
                  .stride_a = projected_row(),
                  .b = part(projected_, 1, n, head),
                  .stride_b = projected_row(),
                  .c = shares,
                  .stride_c = steps_});
        on_wide_vectors([&] {
          for (size_t t = 0; t < steps_; ++t) soften(shares + t * steps_, seen(t));
        });
        multiply({.m = steps_,
                  .n = size_,
                  .k = steps_,
                  .a = shares,
                  .stride_a = steps_,
                  .b = part(projected_, 2, n, head),
                  .stride_b = projected_row(),
                  .c = data(output_.values) + n * width_ + head * size_,
                  .stride_c = batch_ * width_});
      }
    }
  }

  void backward(const dnnl::stream& stream, std::span<float> weights, float client_lr) override {
    for (size_t n = 0; n < batch_; ++n) {
      for (size_t head = 0; head < heads(); ++head) go_back(n, head);
    }
    const size_t rows = steps_ * batch_;
    const float* gradient = data(projected_gradient_);
    if (input_.gradient) {  // before the weights change
      multiply({.m = rows,
                .n = in_,
                .k = 3 * width_,
                .a = gradient,
                .stride_a = 3 * width_,
                .b = weights.data(),
                .stride_b = in_,
                .c = data(input_.gradient),
                .stride_c = in_});
    }
    multiply({.transpose_a = 'T',
              .m = 3 * width_,
              .n = in_,
              .k = rows,
              .alpha = -client_lr,
              .a = gradient,
              .stride_a = 3 * width_,
              .b = data(input_.values),
              .stride_b = in_,
              .beta = 1,
              .c = weights.data(),
              .stride_c = in_});
    for (size_t row = 0; row < rows; ++row) {
      kernels_.sgd(weights.subspan(3 * width_ * in_), gradient + row * 3 * width_, client_lr);
    }
    deliver_gradient_.run(stream);
  }

 private:
  size_t heads() const { return width_ / size_; }
  size_t seen(size_t t) const { return causal_ ? t + 1 : steps_; }
  size_t projected_row() const { return batch_ * 3 * width_; }  // from one step of an example to its next

  // A head's queries (which = 0), keys (1) or values (2) at an example's first step.
  float* part(const dnnl::memory& projections, size_t which, size_t n, size_t head) const {
    return data(projections) + n * 3 * width_ + which * width_ + head * size_;
  }

  float* shares_of(size_t n, size_t head) const {
    return data(shares_) + (training_ ? (n * heads() + head) * steps_ * steps_ : 0);
  }

  void project(const float* weights) {
    const size_t rows = steps_ * batch_;
    float* projected = data(projected_);
    for (size_t row = 0; row < rows; ++row) {
      std::copy_n(weights + 3 * width_ * in_, 3 * width_, projected + row * 3 * width_);
    }
    multiply({.transpose_b = 'T',
              .m = rows,
              .n = 3 * width_,
              .k = in_,
              .a = data(input_.values),
              .stride_a = in_,
              .b = weights,
              .stride_b = in_,
              .beta = 1,
              .c = projected,
              .stride_c = 3 * width_});
  }

  // Softmax over the first `count` numbers; the others become 0.
  void soften(float* row, size_t count) const {
    float largest = row[0];
#pragma omp simd reduction(max : largest)
    for (size_t s = 0; s < count; ++s) largest = largest < row[s] ? row[s] : largest;
#pragma omp simd
    for (size_t s = 0; s < count; ++s) row[s] = exp_clamped(row[s] - largest);
    const float factor = 1 / lane_sum(count, [&](size_t s) { return row[s]; });
#pragma omp simd
    for (size_t s = 0; s < count; ++s) row[s] *= factor;
    std::fill(row + count, row + steps_, 0.0f);
  }

  void go_back(size_t n, size_t head) {
    const float* shares = shares_of(n, head);
    const float* dy = data(output_.gradient) + n * width_ + head * size_;
    float* dp = data(share_gradients_);
    const float scale = 1 / std::sqrt(static_cast<float>(size_));
    multiply({.transpose_b = 'T',
              .m = steps_,
              .n = steps_,
              .k = size_,
              .a = dy,
              .stride_a = batch_ * width_,
              .b = part(projected_, 2, n, head),
              .stride_b = projected_row(),
              .c = dp,
              .stride_c = steps_});
    multiply({.transpose_a = 'T',
              .m = steps_,
              .n = size_,
              .k = steps_,
              .a = shares,
              .stride_a = steps_,
              .b = dy,
              .stride_b = batch_ * width_,
              .c = part(projected_gradient_, 2, n, head),
              .stride_c = projected_row()});
    on_wide_vectors([&] {
      for (size_t t = 0; t < steps_; ++t) {
        float* row = dp + t * steps_;
        const float* p = shares + t * steps_;
        const float mean = lane_sum(steps_, [&](size_t s) { return p[s] * row[s]; });
#pragma omp simd
        for (size_t s = 0; s < steps_; ++s) row[s] = p[s] * (row[s] - mean);  // what is not seen has p = 0
      }
    });
    for (const bool of_queries : {true, false}) {
      multiply({.transpose_a = of_queries ? 'N' : 'T',
                .m = steps_,
                .n = size_,
                .k = steps_,
                .alpha = scale,
                .a = dp,
                .stride_a = steps_,
                .b = part(projected_, of_queries ? 1 : 0, n, head),
                .stride_b = projected_row(),
                .c = part(projected_gradient_, of_queries ? 0 : 1, n, head),
                .stride_c = projected_row()});
    }
  }

  const Kernels& kernels_ = kernels();
  size_t batch_, in_, steps_;
  size_t width_, size_;  // features of all heads, and of one
  bool causal_, training_;
  Flow input_, output_;
  dnnl::memory projected_, projected_gradient_;
  dnnl::memory shares_, share_gradients_;  // how much each step takes from each; while training, of all heads
  Call fetch_values_, deliver_gradient_;
};

}  // namespace

std::unique_ptr<Layer> make_attention(BufferPlan& buffer, const PlanSite& site) {
  return std::make_unique<Attention>(buffer, site);
}

}  // namespace subfleet::cpu
