#include <algorithm>

#include "nn/reference/layer.h"

namespace subfleet::reference {
namespace {

// y[o] = bias[o] + sum over i of weight[o][i] * x[i]
class Dense final : public Layer {
 public:
  explicit Dense(const LayerSite& site) : in_(site.input.size()), out_(site.output.size()) {}

  void forward(std::span<const float> weights, std::span<const double> input,
               std::span<double> output) const override {
    const std::span<const float> bias = weights.subspan(out_ * in_);
    for (size_t n = 0; n < input.size() / in_; ++n) {
      for (size_t o = 0; o < out_; ++o) {
        double sum = bias[o];
        for (size_t i = 0; i < in_; ++i) sum += weights[o * in_ + i] * input[n * in_ + i];
        output[n * out_ + o] = sum;
      }
    }
  }

  void backward(std::span<const float> weights, const Backward& pass) const override {
    std::ranges::fill(pass.weight_gradient, 0.0);
    std::ranges::fill(pass.input_gradient, 0.0);
    const std::span<double> bias_gradient = pass.weight_gradient.subspan(out_ * in_);
    for (size_t n = 0; n < pass.input.size() / in_; ++n) {
      for (size_t o = 0; o < out_; ++o) {
        const double gradient = pass.output_gradient[n * out_ + o];
        bias_gradient[o] += gradient;
        for (size_t i = 0; i < in_; ++i) {
          pass.weight_gradient[o * in_ + i] += gradient * pass.input[n * in_ + i];
          if (!pass.input_gradient.empty())
            pass.input_gradient[n * in_ + i] += gradient * weights[o * in_ + i];
        }
      }
    }
  }

 private:
  size_t in_, out_;
};

}  // namespace

std::unique_ptr<Layer> make_dense(const LayerSite& site) { return std::make_unique<Dense>(site); }

}  // namespace subfleet::reference
