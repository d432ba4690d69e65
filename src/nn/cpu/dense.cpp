#include <algorithm>

#include "nn/cpu/layer.h"
#include "subfleet/error.h"

namespace subfleet::cpu {
namespace {

// Rows of the weights that one product of the forward pass takes: blocks read better than the whole.
constexpr size_t kForwardRows = 256;

// Weights that fit well into a core's own cache, so that the backward pass fetches them once for its two
// products.
constexpr size_t kBackwardWeights = 256 * 1024 / sizeof(float);

// C = alpha * op(A) * op(B) + beta * C, row by row; op(A) is m x k, op(B) is k x n.
struct Product {
  char transpose_a = 'N', transpose_b = 'N';
  size_t m = 0, n = 0, k = 0;
  float alpha = 1;
  const float* a = nullptr;
  size_t stride_a = 0;
  const float* b = nullptr;
  size_t stride_b = 0;
  float beta = 0;
  float* c = nullptr;
  size_t stride_c = 0;
};

void multiply(const Product& p) {
  const auto dim = [](size_t size) { return static_cast<dnnl_dim_t>(size); };
  const dnnl_status_t status =
      dnnl_sgemm(p.transpose_a, p.transpose_b, dim(p.m), dim(p.n), dim(p.k), p.alpha, p.a, dim(p.stride_a),
                 p.b, dim(p.stride_b), p.beta, p.c, dim(p.stride_c));
  if (status != dnnl_success) throw failure("oneDNN", "a matrix product failed; is there memory left?");
}

// Y = X W^T + b with W as [out, in]. A batch is small, so reading and writing W is what costs.
class Dense final : public Layer {
 public:
  Dense(Room& room, const PlanSite& site)
      : batch_(site.batch), in_(site.site.input.size()), out_(site.site.output.size()) {
    const auto plain = plain_layout(batch_, site.site.input);
    input_.values = room.reserve_copy(site.input.values, plain);
    fetch_values_ = make_reorder(room, site.input.values, input_.values);
    output_.values = room.reserve(plain_layout(batch_, site.site.output));
    if (!site.training) return;
    output_.gradient = room.reserve(plain_layout(batch_, site.site.output));
    if (!site.input.gradient) return;
    input_.gradient = room.reserve_copy(site.input.gradient, plain);
    deliver_gradient_ = make_reorder(room, input_.gradient, site.input.gradient);
  }

  const Flow& output() const override { return output_; }

  void forward(const dnnl::stream& stream, std::span<const float> weights) override {
    fetch_values_.run(stream);
    const float* x = data(input_.values);
    const float* bias = weights.data() + out_ * in_;
    float* y = data(output_.values);
    for (size_t n = 0; n < batch_; ++n) std::copy_n(bias, out_, y + n * out_);
    for (size_t row = 0; row < out_; row += kForwardRows) {
      multiply({.transpose_b = 'T',
                .m = batch_,
                .n = std::min(kForwardRows, out_ - row),
                .k = in_,
                .a = x,
                .stride_a = in_,
                .b = weights.data() + row * in_,
                .stride_b = in_,
                .beta = 1,
                .c = y + row,
                .stride_c = out_});
    }
  }

  void backward(const dnnl::stream& stream, std::span<float> weights, float client_lr) override {
    const float* x = data(input_.values);
    const float* dy = data(output_.gradient);
    const size_t block = std::max<size_t>(1, kBackwardWeights / in_);
    for (size_t row = 0; row < out_; row += block) {
      const size_t rows = std::min(block, out_ - row);
      float* w = weights.data() + row * in_;
      if (input_.gradient) {  // dX += dY W, before W changes
        multiply({.m = batch_,
                  .n = in_,
                  .k = rows,
                  .a = dy + row,
                  .stride_a = out_,
                  .b = w,
                  .stride_b = in_,
                  .beta = row == 0 ? 0.0f : 1.0f,
                  .c = data(input_.gradient),
                  .stride_c = in_});
      }
      multiply({.transpose_a = 'T',  // W -= lr dY^T X
                .m = rows,
                .n = in_,
                .k = batch_,
                .alpha = -client_lr,
                .a = dy + row,
                .stride_a = out_,
                .b = x,
                .stride_b = in_,
                .beta = 1,
                .c = w,
                .stride_c = in_});
    }
    float* bias = weights.data() + out_ * in_;
    for (size_t n = 0; n < batch_; ++n) {
      for (size_t o = 0; o < out_; ++o) bias[o] -= client_lr * dy[n * out_ + o];
    }
    deliver_gradient_.run(stream);
  }

 private:
  size_t batch_, in_, out_;
  Flow input_, output_;  // both plain
  Call fetch_values_, deliver_gradient_;
};

}  // namespace

std::unique_ptr<Layer> make_dense(Room& room, const PlanSite& site) {
  return std::make_unique<Dense>(room, site);
}

}  // namespace subfleet::cpu
