#include <algorithm>

#include "model/window.h"
#include "nn/reference/layer.h"

namespace subfleet::reference {
namespace {

// y[o][r][c] = bias[o] + sum over i, kr, kc of weight[o][i][kr][kc] * x[i][s*r + kr - p][s*c + kc - p], zero
// outside; s is the stride, p the padding. Depthwise, i is the one channel that o's filters belong to.
class Conv2D final : public Layer {
 public:
  explicit Conv2D(const LayerSite& site)
      : in_(site.input),
        out_(site.output),
        window_(convolution_window(site.spec)),
        columns_(in_.channels / site.spec.groups),
        outputs_per_group_(out_.channels / site.spec.groups),
        weights_(out_.channels * columns_ * window_.kernel * window_.kernel),
        bias_(site.spec.bias) {}

  void forward(std::span<const float> weights, std::span<const double> input,
               std::span<double> output) const override {
    const size_t batch = input.size() / in_.size();
    const size_t plane = out_.height * out_.width;
    for (size_t i = 0; i < output.size(); ++i) {
      output[i] = bias_ ? weights[weights_ + i / plane % out_.channels] : 0.0f;
    }
    for_each_product(batch,
                     [&](size_t weight, size_t x, size_t y) { output[y] += weights[weight] * input[x]; });
  }

  void backward(std::span<const float> weights, const Backward& pass) const override {
    const size_t batch = pass.input.size() / in_.size();
    const size_t plane = out_.height * out_.width;
    std::ranges::fill(pass.weight_gradient, 0.0);
    std::ranges::fill(pass.input_gradient, 0.0);
    for (size_t i = 0; bias_ && i < pass.output_gradient.size(); ++i) {
      pass.weight_gradient[weights_ + i / plane % out_.channels] += pass.output_gradient[i];
    }
    for_each_product(batch, [&](size_t weight, size_t x, size_t y) {
      pass.weight_gradient[weight] += pass.output_gradient[y] * pass.input[x];
      if (!pass.input_gradient.empty()) pass.input_gradient[x] += pass.output_gradient[y] * weights[weight];
    });
  }

 private:
  // Calls visit(weight, input, output), the indices of the three, for every product in the sum above.
  template <typename Visit>
  void for_each_product(size_t batch, Visit&& visit) const {
    const auto [kernel, stride, pad] = window_;
    for (size_t n = 0; n < batch; ++n) {
      for (size_t o = 0; o < out_.channels; ++o) {
        for (size_t i = 0; i < columns_; ++i) {
          const size_t channel = o / outputs_per_group_ * columns_ + i;
          for (size_t kr = 0; kr < kernel; ++kr) {
            for (size_t kc = 0; kc < kernel; ++kc) {
              const size_t weight = ((o * columns_ + i) * kernel + kr) * kernel + kc;
              for (size_t r = 0; r < out_.height; ++r) {
                const size_t row = r * stride + kr;  // of the padded input
                if (row < pad || row >= in_.height + pad) continue;
                for (size_t c = 0; c < out_.width; ++c) {
                  const size_t column = c * stride + kc;
                  if (column < pad || column >= in_.width + pad) continue;
                  visit(weight, index(in_, n, channel, row - pad, column - pad), index(out_, n, o, r, c));
                }
              }
            }
          }
        }
      }
    }
  }

  static size_t index(const Shape& shape, size_t n, size_t channel, size_t row, size_t column) {
    return ((n * shape.channels + channel) * shape.height + row) * shape.width + column;
  }

  Shape in_, out_;
  Window window_;
  size_t columns_, outputs_per_group_;  // with groups == 1, all of them
  size_t weights_;                      // without the biases, which follow
  bool bias_;
};

}  // namespace

std::unique_ptr<Layer> make_conv2d(const LayerSite& site) { return std::make_unique<Conv2D>(site); }

}  // namespace subfleet::reference
