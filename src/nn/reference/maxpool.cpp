#include <algorithm>

#include "model/window.h"
#include "nn/reference/layer.h"

namespace subfleet::reference {
namespace {

// The largest of each window; of equal ones the first in row order gets the gradient.
class MaxPool final : public Layer {
 public:
  explicit MaxPool(const LayerSite& site)
      : in_(site.input), out_(site.output), window_(pool_window(site.spec)) {}

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
    size_t best = 0;
    bool found = false;
    for (size_t kr = 0; kr < window_.kernel; ++kr) {
      for (size_t kc = 0; kc < window_.kernel; ++kc) {
        const size_t r = row * window_.stride + kr - window_.padding,
                     c = column * window_.stride + kc - window_.padding;
        if (r >= in_.height || c >= in_.width) continue;  // padding; what is below 0 has become huge
        const size_t x = (channel * in_.height + r) * in_.width + c;
        if (!found || input[x] > input[best]) best = x;
        found = true;
      }
    }
    return best;
  }

  Shape in_, out_;
  Window window_;
};

}  // namespace

std::unique_ptr<Layer> make_maxpool(const LayerSite& site) { return std::make_unique<MaxPool>(site); }

}  // namespace subfleet::reference
