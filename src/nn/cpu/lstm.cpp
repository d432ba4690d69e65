#include <algorithm>

#include "base/wide_vectors.h"
#include "nn/cpu/layer.h"
#include "nn/cpu/product.h"
#include "nn/cpu/sigmoid_tanh.h"

namespace subfleet::cpu {
namespace {

// As in reference/lstm.cpp. Everything lies step by step, one row per example. The inputs' part of the gates
// is one product for all steps, and so are the gradients of the weights; only h[t-1] must be waited for.
class Lstm final : public Layer {
 public:
  Lstm(BufferPlan& buffer, const PlanSite& site)
      : batch_(site.batch),
        in_(site.site.input.channels),
        units_(site.site.output.channels),
        steps_(site.site.input.height),
        last_step_(site.site.spec.last_step),
        training_(site.training) {
    const auto input = step_by_step_layout(batch_, site.site.input);
    input_.values = buffer.reserve_copy(site.input.values, input);
    fetch_values_ = make_reorder(buffer, site.input.values, input_.values);
    const auto output = step_by_step_layout(batch_, site.site.output);
    output_.values = buffer.reserve(output);
    // What backward() wants to know of every step; otherwise the last one is enough.
    const size_t kept_steps = training_ ? steps_ : 1;
    const auto of_units = step_by_step_layout(batch_, {units_, kept_steps, 1});
    gates_ = buffer.reserve(step_by_step_layout(batch_, {4 * units_, kept_steps, 1}));
    c_ = buffer.reserve(of_units);
    tanh_c_ = buffer.reserve(of_units);
    h_ = buffer.reserve(of_units);  // the output may be changed in place by the layer that follows
    zeros_ = buffer.reserve(step_by_step_layout(batch_, {units_, 1, 1}));
    if (!training_) return;
    output_.gradient = buffer.reserve(output);
    c_gradient_ = buffer.reserve(zeros_.get_desc());
    h_gradient_ = buffer.reserve(zeros_.get_desc());
    weight_gradient_ = buffer.reserve(plain_layout(4 * units_, {std::max(in_, units_), 1, 1}));
    if (!site.input.gradient) return;
    input_.gradient = buffer.reserve_copy(site.input.gradient, input);
    deliver_gradient_ = make_reorder(buffer, input_.gradient, site.input.gradient);
  }

  const Flow& output() const override { return output_; }

  void forward(const dnnl::stream& stream, std::span<const float> weights) override {
    fetch_values_.run(stream);
    std::fill_n(data(zeros_), batch_ * units_, 0.0f);
    if (training_) multiply_inputs(weights.data(), 0, steps_);
    for (size_t t = 0; t < steps_; ++t) {
      if (!training_) multiply_inputs(weights.data(), t, 1);
      if (t > 0) multiply_hidden(weights.data(), t);
      on_wide_vectors([&] { pass_gates(t); });
      if (!last_step_) std::copy_n(step(h_, t), batch_ * units_, data(output_.values) + t * batch_ * units_);
    }
    if (last_step_) std::copy_n(step(h_, steps_ - 1), batch_ * units_, data(output_.values));
  }

  void backward(const dnnl::stream& stream, std::span<float> weights, float client_lr) override {
    std::fill_n(data(c_gradient_), batch_ * units_, 0.0f);
    std::fill_n(data(h_gradient_), batch_ * units_, 0.0f);
    for (size_t t = steps_; t-- > 0;) {
      on_wide_vectors([&] { pass_gates_back(t); });
      if (t == 0) break;
      multiply({.m = batch_,  // of the gates at t, to h[t-1]
                .n = units_,
                .k = 4 * units_,
                .a = step_of_gates(t),
                .stride_a = 4 * units_,
                .b = weights.data() + recurrent(),
                .stride_b = units_,
                .c = data(h_gradient_),
                .stride_c = units_});
    }
    if (input_.gradient) {  // before the weights change
      multiply({.m = steps_ * batch_,
                .n = in_,
                .k = 4 * units_,
                .a = data(gates_),
                .stride_a = 4 * units_,
                .b = weights.data(),
                .stride_b = in_,
                .c = data(input_.gradient),
                .stride_c = in_});
    }
    descend(weights, client_lr);
    deliver_gradient_.run(stream);
  }

 private:
  // Where the recurrent weights and the two biases begin.
  size_t recurrent() const { return 4 * units_ * in_; }
  size_t biases() const { return 4 * units_ * (in_ + units_); }

  // What a tensor of units holds of step t, and what the gates are there.
  float* step(const dnnl::memory& tensor, size_t t) const {
    return data(tensor) + (training_ ? t * batch_ * units_ : 0);
  }
  float* step_of_gates(size_t t) const { return data(gates_) + (training_ ? t * batch_ * 4 * units_ : 0); }

  void multiply_inputs(const float* weights, size_t first_step, size_t steps) {
    float* gates = step_of_gates(first_step);
    const float* bias = weights + biases();
    const float* recurrent_bias = bias + 4 * units_;
    for (size_t j = 0; j < 4 * units_; ++j) gates[j] = bias[j] + recurrent_bias[j];
    for (size_t row = 1; row < steps * batch_; ++row)
      std::copy_n(gates, 4 * units_, gates + row * 4 * units_);
    multiply({.transpose_b = 'T',
              .m = steps * batch_,
              .n = 4 * units_,
              .k = in_,
              .a = data(input_.values) + first_step * batch_ * in_,
              .stride_a = in_,
              .b = weights,
              .stride_b = in_,
              .beta = 1,
              .c = gates,
              .stride_c = 4 * units_});
  }

  void multiply_hidden(const float* weights, size_t t) {
    multiply({.transpose_b = 'T',
              .m = batch_,
              .n = 4 * units_,
              .k = units_,
              .a = step(h_, t - 1),
              .stride_a = units_,
              .b = weights + recurrent(),
              .stride_b = units_,
              .beta = 1,
              .c = step_of_gates(t),
              .stride_c = 4 * units_});
  }

  void pass_gates(size_t t) {
    for (size_t n = 0; n < batch_; ++n) {
      float* i = step_of_gates(t) + n * 4 * units_;
      float *f = i + units_, *g = f + units_, *o = g + units_;
      const float* c_before = (t == 0 ? data(zeros_) : step(c_, t - 1)) + n * units_;
      float* c = step(c_, t) + n * units_;
      float* tanh_c = step(tanh_c_, t) + n * units_;
      float* h = step(h_, t) + n * units_;
#pragma omp simd
      for (size_t u = 0; u < units_; ++u) {
        i[u] = fast_sigmoid(i[u]);
        f[u] = fast_sigmoid(f[u]);
        g[u] = fast_tanh(g[u]);
        o[u] = fast_sigmoid(o[u]);
        c[u] = f[u] * c_before[u] + i[u] * g[u];
        tanh_c[u] = fast_tanh(c[u]);
        h[u] = o[u] * tanh_c[u];
      }
    }
  }

  // Puts the gates' gradients, before the sigmoid and tanh, into their place.
  void pass_gates_back(size_t t) {
    const bool leaves = !last_step_ || t + 1 == steps_;
    const float* dy = leaves ? data(output_.gradient) + (last_step_ ? 0 : t * batch_ * units_) : data(zeros_);
    for (size_t n = 0; n < batch_; ++n) {
      float* i = step_of_gates(t) + n * 4 * units_;
      float *f = i + units_, *g = f + units_, *o = g + units_;
      const float* c_before = (t == 0 ? data(zeros_) : step(c_, t - 1)) + n * units_;
      const float* tanh_c = step(tanh_c_, t) + n * units_;
      const float* dy_row = dy + n * units_;
      const float* dh_row = data(h_gradient_) + n * units_;
      float* dc_row = data(c_gradient_) + n * units_;
#pragma omp simd
      for (size_t u = 0; u < units_; ++u) {
        const float dh = dy_row[u] + dh_row[u];
        const float dc = dc_row[u] + dh * o[u] * (1 - tanh_c[u] * tanh_c[u]);
        const float di = dc * g[u] * i[u] * (1 - i[u]);
        const float df = dc * c_before[u] * f[u] * (1 - f[u]);
        const float dg = dc * i[u] * (1 - g[u] * g[u]);
        const float d_o = dh * tanh_c[u] * o[u] * (1 - o[u]);
        dc_row[u] = dc * f[u];
        i[u] = di;
        f[u] = df;
        g[u] = dg;
        o[u] = d_o;
      }
    }
  }

  // One step of SGD, with the gates' gradients of all steps.
  void descend(std::span<float> weights, float client_lr) {
    descend(weights.first(recurrent()), client_lr, 0, data(input_.values), in_);
    // h[t-1] belongs to the gates of t.
    if (steps_ > 1)
      descend(weights.subspan(recurrent(), 4 * units_ * units_), client_lr, 1, data(h_), units_);
    float* sum = data(weight_gradient_);
    std::fill_n(sum, 4 * units_, 0.0f);
    for (size_t row = 0; row < steps_ * batch_; ++row) {
      const float* gradient = data(gates_) + row * 4 * units_;
      for (size_t j = 0; j < 4 * units_; ++j) sum[j] += gradient[j];
    }
    float* bias = weights.data() + biases();
    for (size_t j = 0; j < 4 * units_; ++j) {
      bias[j] -= client_lr * sum[j];
      bias[4 * units_ + j] -= client_lr * sum[j];
    }
  }

  // W -= lr dZ^T X, with the gates from a step on and as many rows of X.
  void descend(std::span<float> weights, float client_lr, size_t first_step, const float* x, size_t columns) {
    multiply({.transpose_a = 'T',
              .m = 4 * units_,
              .n = columns,
              .k = (steps_ - first_step) * batch_,
              .a = step_of_gates(first_step),
              .stride_a = 4 * units_,
              .b = x,
              .stride_b = columns,
              .c = data(weight_gradient_),
              .stride_c = columns});
    const float* gradient = data(weight_gradient_);
    for (size_t i = 0; i < weights.size(); ++i) weights[i] -= client_lr * gradient[i];
  }

  size_t batch_, in_, units_, steps_;
  bool last_step_, training_;
  Flow input_, output_;
  dnnl::memory gates_, c_, tanh_c_, h_, zeros_;
  dnnl::memory c_gradient_, h_gradient_, weight_gradient_;
  Call fetch_values_, deliver_gradient_;
};

}  // namespace

std::unique_ptr<Layer> make_lstm(BufferPlan& buffer, const PlanSite& site) {
  return std::make_unique<Lstm>(buffer, site);
}

}  // namespace subfleet::cpu
