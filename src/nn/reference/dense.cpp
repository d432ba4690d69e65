#include <algorithm>

#include "nn/reference/layer.h"

namespace subfleet::reference {
namespace {

// y[o] = bias[o] + sum over i of weight[o][i] * x[i], at every step of a sequence.
class Dense final : public Layer {
 public:
  explicit Dense(const LayerSite& site)
      : in_(site.input.channels),
        out_(site.output.channels),
        steps_(site.input.height),
        bias_(site.spec.bias) {}

  void forward(std::span<const float> weights, std::span<const double> input,
               std::span<double> output) const override {
    for (size_t n = 0; n < input.size() / (in_ * steps_); ++n) {
      for (size_t o = 0; o < out_; ++o) {
        for (size_t t = 0; t < steps_; ++t) {
          double sum = bias_ ? weights[out_ * in_ + o] : 0.0f;
          for (size_t i = 0; i < in_; ++i) sum += weights[o * in_ + i] * input[(n * in_ + i) * steps_ + t];
          output[(n * out_ + o) * steps_ + t] = sum;
        }
      }
    }
  }

  void backward(std::span<const float> weights, const Backward& pass) const override {
    std::ranges::fill(pass.weight_gradient, 0.0);
    std::ranges::fill(pass.input_gradient, 0.0);
    for (size_t n = 0; n < pass.input.size() / (in_ * steps_); ++n) {
      for (size_t o = 0; o < out_; ++o) {
        for (size_t t = 0; t < steps_; ++t) {
          const double gradient = pass.output_gradient[(n * out_ + o) * steps_ + t];
          if (bias_) pass.weight_gradient[out_ * in_ + o] += gradient;
          for (size_t i = 0; i < in_; ++i) {
            const size_t x = (n * in_ + i) * steps_ + t;
            pass.weight_gradient[o * in_ + i] += gradient * pass.input[x];
            if (!pass.input_gradient.empty()) pass.input_gradient[x] += gradient * weights[o * in_ + i];
          }
        }
      }
    }
  }

 private:
  size_t in_, out_, steps_;
  bool bias_;
};

}  // namespace

std::unique_ptr<Layer> make_dense(const LayerSite& site) { return std::make_unique<Dense>(site); }

}  // namespace subfleet::reference
