#include "nn/reference/layer.h"

namespace subfleet::reference {
namespace {

class Scale final : public Layer {
 public:
  void forward(std::span<const float> weights, std::span<const double> input,
               std::span<double> output) const override {
    for (size_t i = 0; i < input.size(); ++i) output[i] = weights[0] * input[i];
  }

  void backward(std::span<const float> weights, const Backward& pass) const override {
    pass.weight_gradient[0] = 0;
    for (size_t i = 0; i < pass.output_gradient.size(); ++i) {
      pass.weight_gradient[0] += pass.output_gradient[i] * pass.input[i];
      if (!pass.input_gradient.empty()) pass.input_gradient[i] = pass.output_gradient[i] * weights[0];
    }
  }
};

}  // namespace

std::unique_ptr<Layer> make_scale(const LayerSite&) { return std::make_unique<Scale>(); }

}  // namespace subfleet::reference
