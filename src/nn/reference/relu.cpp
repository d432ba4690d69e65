#include "nn/reference/layer.h"

namespace subfleet::reference {
namespace {

class Relu final : public Layer {
 public:
  void forward(std::span<const float>, std::span<const double> input,
               std::span<double> output) const override {
    for (size_t i = 0; i < input.size(); ++i) output[i] = input[i] < 0 ? 0 : input[i];  // NaN stays
  }

  void backward(std::span<const float>, const Backward& pass) const override {
    for (size_t i = 0; i < pass.input_gradient.size(); ++i) {
      pass.input_gradient[i] = pass.input[i] > 0 ? pass.output_gradient[i] : 0;
    }
  }
};

}  // namespace

std::unique_ptr<Layer> make_relu(const LayerSite&) { return std::make_unique<Relu>(); }

}  // namespace subfleet::reference
