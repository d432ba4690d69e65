#include <algorithm>

#include "model/window.h"
#include "nn/reference/layer.h"

namespace subfleet::reference {
namespace {

// The mean over all positions of a channel, or over each window, in which padding counts as zeros; each
// position gets an equal share of the gradient.
class AvgPool final : public Layer {
 public:
  explicit AvgPool(const LayerSite& site)
      : in_(site.input), out_(site.output), window_(pool_window(site.spec)), global_(site.spec.kernel == 0) {}

  void forward(std::span<const float>, std::span<const double> input,
               std::span<double> output) const override {
    std::ranges::fill(output, 0.0);
    for_each_pair(output.size(), [&](size_t x, size_t y) { output[y] += input[x]; });
    for (double& value : output) value /= positions();
  }

  void backward(std::span<const float>, const Backward& pass) const override {
    if (pass.input_gradient.empty()) return;
    std::ranges::fill(pass.input_gradient, 0.0);
    for_each_pair(pass.output_gradient.size(), [&](size_t x, size_t y) {
      pass.input_gradient[x] += pass.output_gradient[y] / positions();
    });
  }

 private:
  double positions() const {
    return static_cast<double>(global_ ? in_.height * in_.width : window_.kernel * window_.kernel);
  }

  // Calls visit(input, output) for every input in each output's window.
  template <typename Visit>
  void for_each_pair(size_t outputs, Visit&& visit) const {
    for (size_t y = 0; y < outputs; ++y) {
      const size_t channel = y / (out_.height * out_.width);  // over all examples
      const size_t row = y / out_.width % out_.height, column = y % out_.width;
      for (size_t r = 0; r < in_.height; ++r) {
        for (size_t c = 0; c < in_.width; ++c) {
          if (global_ || (inside(r, row) && inside(c, column)))
            visit((channel * in_.height + r) * in_.width + c, y);
        }
      }
    }
  }

  bool inside(size_t input, size_t output) const {
    const size_t padded = input + window_.padding, first = output * window_.stride;
    return padded >= first && padded < first + window_.kernel;
  }

  Shape in_, out_;
  Window window_;
  bool global_;
};

}  // namespace

std::unique_ptr<Layer> make_avgpool(const LayerSite& site) { return std::make_unique<AvgPool>(site); }

}  // namespace subfleet::reference
