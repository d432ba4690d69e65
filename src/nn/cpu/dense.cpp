#include <algorithm>

#include "nn/cpu/kernels.h"
#include "nn/cpu/layer.h"
#include "nn/cpu/product.h"

namespace subfleet::cpu {
namespace {

// Up to this size a batch is narrow, and reading the weights is what takes time. oneDNN does larger batches.
constexpr size_t kNarrowBatch = 30;

// Y = X W^T + b with W as [out, in]; of a sequence, a row for every step of every example.
class DenseLayer final : public Layer {
 public:
  DenseLayer(BufferPlan& buffer, const PlanSite& site)
      : size_{.batch = site.batch * site.site.input.height,
              .in = site.site.input.channels,
              .out = site.site.output.channels},
        has_bias_(site.site.spec.bias) {
    const auto plain = rows_layout(site.batch, site.site.input),
               output = rows_layout(site.batch, site.site.output);
    input_.values = buffer.reserve_copy(site.input.values, plain);
    fetch_values_ = make_reorder(buffer, site.input.values, input_.values);
    output_.values = buffer.reserve(output);
    if (!has_bias_) no_bias_ = buffer.reserve(plain_layout(1, {.channels = size_.out}));
    if (!site.training) return;
    output_.gradient = buffer.reserve(output);
    scratch_ = buffer.reserve(plain_layout(1, {.channels = scratch_floats(size_)}));
    if (!site.input.gradient) return;
    input_.gradient = buffer.reserve_copy(site.input.gradient, plain);
    deliver_gradient_ = make_reorder(buffer, input_.gradient, site.input.gradient);
  }

  const Flow& output() const override { return output_; }

  void forward(const dnnl::stream& stream, std::span<const float> weights) override {
    fetch_values_.run(stream);
    if (size_.batch > kNarrowBatch) return wide_forward(weights);
    kernels_.dense_forward(size_, data(input_.values), weights.data(), bias_of(weights),
                           data(output_.values));
  }

  void backward(const dnnl::stream& stream, std::span<float> weights, float client_lr) override {
    if (size_.batch > kNarrowBatch) {
      wide_backward(weights, client_lr);
      deliver_gradient_.run(stream);
      return;
    }
    kernels_.dense_backward({.size = size_,
                             .x = data(input_.values),
                             .dy = data(output_.gradient),
                             .client_lr = client_lr,
                             .w = weights.data(),
                             .bias = bias_of(weights),
                             .dx = input_.gradient ? data(input_.gradient) : nullptr,
                             .scratch = data(scratch_)});
    deliver_gradient_.run(stream);
  }

 private:
  static dnnl::memory::desc rows_layout(size_t batch, const Shape& shape) {
    return shape.height == 1 ? plain_layout(batch, shape) : step_by_step_layout(batch, shape);
  }

  // The biases, or zeros that may be changed.
  template <typename T>
  T* bias_of(std::span<T> weights) {
    if (has_bias_) return weights.data() + size_.out * size_.in;
    std::fill_n(data(no_bias_), size_.out, 0.0f);
    return data(no_bias_);
  }

  void wide_forward(std::span<const float> weights) {
    const auto [batch, in, out] = size_;
    float* y = data(output_.values);
    const float* bias = bias_of(weights);
    for (size_t n = 0; n < batch; ++n) std::copy_n(bias, out, y + n * out);
    multiply({.transpose_b = 'T',
              .m = batch,
              .n = out,
              .k = in,
              .a = data(input_.values),
              .stride_a = in,
              .b = weights.data(),
              .stride_b = in,
              .beta = 1,
              .c = y,
              .stride_c = out});
  }

  void wide_backward(std::span<float> weights, float client_lr) {
    const auto [batch, in, out] = size_;
    const float* dy = data(output_.gradient);
    if (input_.gradient) {  // dX = dY W, before W changes
      multiply({.m = batch,
                .n = in,
                .k = out,
                .a = dy,
                .stride_a = out,
                .b = weights.data(),
                .stride_b = in,
                .c = data(input_.gradient),
                .stride_c = in});
    }
    multiply({.transpose_a = 'T',  // W -= lr dY^T X
              .m = out,
              .n = in,
              .k = batch,
              .alpha = -client_lr,
              .a = dy,
              .stride_a = out,
              .b = data(input_.values),
              .stride_b = in,
              .beta = 1,
              .c = weights.data(),
              .stride_c = in});
    if (!has_bias_) return;
    for (size_t n = 0; n < batch; ++n) kernels_.sgd(weights.subspan(out * in), dy + n * out, client_lr);
  }

  const Kernels& kernels_ = kernels();
  DenseSize size_;
  bool has_bias_;
  Flow input_, output_;  // a row of features for each example, or step
  dnnl::memory scratch_, no_bias_;
  Call fetch_values_, deliver_gradient_;
};

}  // namespace

std::unique_ptr<Layer> make_dense(BufferPlan& buffer, const PlanSite& site) {
  return std::make_unique<DenseLayer>(buffer, site);
}

}  // namespace subfleet::cpu
