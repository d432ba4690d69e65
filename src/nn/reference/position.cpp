#include "nn/reference/layer.h"

namespace subfleet::reference {
namespace {

// y[c][t] = x[c][t] + weight[t][c]
class Position final : public Layer {
 public:
  explicit Position(const LayerSite& site) : shape_(site.input) {}

  void forward(std::span<const float> weights, std::span<const double> input,
               std::span<double> output) const override {
    for (size_t i = 0; i < input.size(); ++i) output[i] = input[i] + weights[weight_of(i)];
  }

  void backward(std::span<const float>, const Backward& pass) const override {
    for (double& value : pass.weight_gradient) value = 0;
    for (size_t i = 0; i < pass.output_gradient.size(); ++i) {
      pass.weight_gradient[weight_of(i)] += pass.output_gradient[i];
      if (!pass.input_gradient.empty()) pass.input_gradient[i] = pass.output_gradient[i];
    }
  }

 private:
  size_t weight_of(size_t i) const {
    return i % shape_.height * shape_.channels + i / shape_.height % shape_.channels;
  }

  Shape shape_;
};

}  // namespace

std::unique_ptr<Layer> make_position(const LayerSite& site) { return std::make_unique<Position>(site); }

}  // namespace subfleet::reference
