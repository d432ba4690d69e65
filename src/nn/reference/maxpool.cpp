#include <algorithm>

#include "nn/reference/layer.h"

namespace subfleet::reference {
namespace {

// The largest of each window; of equal ones the first in row order gets the gradient.
class MaxPool final : public Layer {
 public:
  explicit MaxPool(const LayerSite& site) : in_(site.input), out_(site.output), window_(site.spec.kernel) {}

  void forward(std::span<const float>, std::span<const double> input,
               std::span<double> output) const override {
    for (size_t y = 0; y < output.size(); ++y) output[y] = input[largest(input, y)];
  }

  void backward(std::span<const float>, const Backward& pass) const override {
    if (pass.input_gradient.empty()) return;
    std::ranges::fill(pass.input_gradient, 0.0);
    for (size_t y = 0; y < pass.output_gradient.size(); ++y) {
      pass.input_gradient[largest(pass.input, y)] += pass.output_gradient[y];
    }
  }

 private:
  // The index of the largest input in the window of an output.
  size_t largest(std::span<const double> input, size_t output) const {
    const size_t column = output % out_.width, row = output / out_.width % out_.height;
    const size_t channel = output / (out_.width * out_.height);  // over all examples
    const size_t corner = (channel * in_.height + row * window_) * in_.width + column * window_;
    size_t best = corner;
    for (size_t r = 0; r < window_; ++r) {
      for (size_t c = 0; c < window_; ++c) {
        const size_t x = corner + r * in_.width + c;
        if (input[x] > input[best]) best = x;
      }
    }
    return best;
  }

  Shape in_, out_;
  size_t window_;
};

}  // namespace

std::unique_ptr<Layer> make_maxpool(const LayerSite& site) { return std::make_unique<MaxPool>(site); }

}  // namespace subfleet::reference
