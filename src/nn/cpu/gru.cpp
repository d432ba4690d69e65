#include <algorithm>

#include "base/wide_vectors.h"
#include "nn/cpu/layer.h"
#include "nn/cpu/product.h"
#include "nn/cpu/sigmoid_tanh.h"

namespace subfleet::cpu {
namespace {

// As in reference/gru.cpp. Everything lies step by step, one row per example. The inputs' part of the gates
// is one product for all steps, and so are the gradients of the weights; only h[t-1] must be waited for.
class Gru final : public Layer {
 public:
  Gru(BufferPlan& buffer, const PlanSite& site)
      : batch_(site.batch),
        in_(site.site.input.channels),
        units_(site.site.output.channels),
        steps_(site.site.input.height),
        last_step_(site.site.spec.last_step) {
    const auto input = step_by_step_layout(batch_, site.site.input);
    input_.values = buffer.reserve_copy(site.input.values, input);
    fetch_values_ = make_reorder(buffer, site.input.values, input_.values);
    const auto output = step_by_step_layout(batch_, site.site.output);
    output_.values = buffer.reserve(output);
    const auto gates = step_by_step_layout(batch_, {3 * units_, steps_, 1});
    gates_ = buffer.reserve(gates);
    recurrent_ = buffer.reserve(gates);
    h_ = buffer.reserve(
        step_by_step_layout(batch_, {units_, steps_, 1}));  // the output may be changed in place
    zeros_ = buffer.reserve(step_by_step_layout(batch_, {units_, 1, 1}));
    if (!site.training) return;
    output_.gradient = buffer.reserve(output);
    h_gradient_ = buffer.reserve(zeros_.get_desc());
    weight_gradient_ = buffer.reserve(plain_layout(3 * units_, {std::max(in_, units_), 1, 1}));
    if (!site.input.gradient) return;
    input_.gradient = buffer.reserve_copy(site.input.gradient, input);
    deliver_gradient_ = make_reorder(buffer, input_.gradient, site.input.gradient);
  }

  const Flow& output() const override { return output_; }

  void forward(const dnnl::stream& stream, std::span<const float> weights) override {
    fetch_values_.run(stream);
    std::fill_n(data(zeros_), batch_ * units_, 0.0f);
    const float* bias = weights.data() + biases();
    for (size_t row = 0; row < steps_ * batch_; ++row) {
      std::copy_n(bias, rows(), data(gates_) + row * rows());
      std::copy_n(bias + rows(), rows(), data(recurrent_) + row * rows());
    }
    multiply({.transpose_b = 'T',
              .m = steps_ * batch_,
              .n = rows(),
              .k = in_,
              .a = data(input_.values),
              .stride_a = in_,
              .b = weights.data(),
              .stride_b = in_,
              .beta = 1,
              .c = data(gates_),
              .stride_c = rows()});
    for (size_t t = 0; t < steps_; ++t) {
      if (t > 0) {
        multiply({.transpose_b = 'T',
                  .m = batch_,
                  .n = rows(),
                  .k = units_,
                  .a = step(h_, t - 1, units_),
                  .stride_a = units_,
                  .b = weights.data() + recurrent_weights(),
                  .stride_b = units_,
                  .beta = 1,
                  .c = step(recurrent_, t, rows()),
                  .stride_c = rows()});
      }
      on_wide_vectors([&] { pass_gates(t); });
    }
    const size_t first = last_step_ ? steps_ - 1 : 0;
    std::copy_n(step(h_, first, units_), (steps_ - first) * batch_ * units_, data(output_.values));
  }

  void backward(const dnnl::stream& stream, std::span<float> weights, float client_lr) override {
    std::fill_n(data(h_gradient_), batch_ * units_, 0.0f);
    for (size_t t = steps_; t-- > 0;) {
      on_wide_vectors([&] { pass_gates_back(t); });
      if (t == 0) break;
      multiply({.m = batch_,  // of the gates at t, to h[t-1], beside what z hands on
                .n = units_,
                .k = rows(),
                .a = step(recurrent_, t, rows()),
                .stride_a = rows(),
                .b = weights.data() + recurrent_weights(),
                .stride_b = units_,
                .beta = 1,
                .c = data(h_gradient_),
                .stride_c = units_});
    }
    if (input_.gradient) {  // before the weights change
      multiply({.m = steps_ * batch_,
                .n = in_,
                .k = rows(),
                .a = data(gates_),
                .stride_a = rows(),
                .b = weights.data(),
                .stride_b = in_,
                .c = data(input_.gradient),
                .stride_c = in_});
    }
    descend(weights.first(recurrent_weights()), client_lr, data(gates_), data(input_.values), in_, steps_);
    if (steps_ > 1) {  // h[t-1] belongs to the gates of t
      descend(weights.subspan(recurrent_weights(), rows() * units_), client_lr, step(recurrent_, 1, rows()),
              data(h_), units_, steps_ - 1);
    }
    descend_bias(weights.subspan(biases(), rows()), client_lr, data(gates_));
    descend_bias(weights.subspan(biases() + rows(), rows()), client_lr, data(recurrent_));
    deliver_gradient_.run(stream);
  }

 private:
  size_t rows() const { return 3 * units_; }
  size_t recurrent_weights() const { return rows() * in_; }
  size_t biases() const { return rows() * (in_ + units_); }
  float* step(const dnnl::memory& tensor, size_t t, size_t columns) const {
    return data(tensor) + t * batch_ * columns;
  }

  // The gates' values take the place of the inputs' part.
  void pass_gates(size_t t) {
    for (size_t row = 0; row < batch_; ++row) {
      float* r = step(gates_, t, rows()) + row * rows();
      float *z = r + units_, *n = z + units_;
      const float* hidden = step(recurrent_, t, rows()) + row * rows();
      const float* before = (t == 0 ? data(zeros_) : step(h_, t - 1, units_)) + row * units_;
      float* h = step(h_, t, units_) + row * units_;
#pragma omp simd
      for (size_t u = 0; u < units_; ++u) {
        r[u] = fast_sigmoid(r[u] + hidden[u]);
        z[u] = fast_sigmoid(z[u] + hidden[units_ + u]);
        n[u] = fast_tanh(n[u] + r[u] * hidden[2 * units_ + u]);
        h[u] = (1 - z[u]) * n[u] + z[u] * before[u];
      }
    }
  }

  // The gates' gradients, before the sigmoid and tanh, take the place of both parts.
  void pass_gates_back(size_t t) {
    const bool leaves = !last_step_ || t + 1 == steps_;
    const float* dy = leaves ? data(output_.gradient) + (last_step_ ? 0 : t * batch_ * units_) : data(zeros_);
    for (size_t row = 0; row < batch_; ++row) {
      float* r = step(gates_, t, rows()) + row * rows();
      float *z = r + units_, *n = z + units_;
      float* hidden = step(recurrent_, t, rows()) + row * rows();
      const float* before = (t == 0 ? data(zeros_) : step(h_, t - 1, units_)) + row * units_;
      const float* dy_row = dy + row * units_;
      float* dh_row = data(h_gradient_) + row * units_;
#pragma omp simd
      for (size_t u = 0; u < units_; ++u) {
        const float dh = dy_row[u] + dh_row[u];
        const float dn = dh * (1 - z[u]) * (1 - n[u] * n[u]);
        const float dr = dn * hidden[2 * units_ + u] * r[u] * (1 - r[u]);
        const float dz = dh * (before[u] - n[u]) * z[u] * (1 - z[u]);
        dh_row[u] = dh * z[u];
        hidden[u] = dr;
        hidden[units_ + u] = dz;
        hidden[2 * units_ + u] = dn * r[u];
        r[u] = dr;
        z[u] = dz;
        n[u] = dn;
      }
    }
  }

  // W -= lr dZ^T X, with as many steps of both.
  void descend(std::span<float> weights, float client_lr, const float* gradients, const float* x,
               size_t columns, size_t steps) {
    multiply({.transpose_a = 'T',
              .m = rows(),
              .n = columns,
              .k = steps * batch_,
              .a = gradients,
              .stride_a = rows(),
              .b = x,
              .stride_b = columns,
              .c = data(weight_gradient_),
              .stride_c = columns});
    const float* gradient = data(weight_gradient_);
    for (size_t i = 0; i < weights.size(); ++i) weights[i] -= client_lr * gradient[i];
  }

  void descend_bias(std::span<float> bias, float client_lr, const float* gradients) {
    float* sum = data(weight_gradient_);
    std::fill_n(sum, rows(), 0.0f);
    for (size_t row = 0; row < steps_ * batch_; ++row) {
      for (size_t j = 0; j < rows(); ++j) sum[j] += gradients[row * rows() + j];
    }
    for (size_t j = 0; j < rows(); ++j) bias[j] -= client_lr * sum[j];
  }

  size_t batch_, in_, units_, steps_;
  bool last_step_;
  Flow input_, output_;
  dnnl::memory gates_, recurrent_;  // from the inputs and from h[t-1]; on the way back, both parts' gradients
  dnnl::memory h_, zeros_, h_gradient_, weight_gradient_;
  Call fetch_values_, deliver_gradient_;
};

}  // namespace

std::unique_ptr<Layer> make_gru(BufferPlan& buffer, const PlanSite& site) {
  return std::make_unique<Gru>(buffer, site);
}

}  // namespace subfleet::cpu
