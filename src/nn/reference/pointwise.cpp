#include <cmath>
#include <numbers>

#include "nn/reference/layer.h"

namespace subfleet::reference {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double normal_share_below(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

// Each function with its derivative.
struct Relu {
  static double value(double x) { return x < 0 ? 0 : x; }  // NaN stays
  static double slope(double x) { return x > 0 ? 1 : 0; }
};

struct Gelu {
  static double value(double x) { return x * normal_share_below(x); }
  static double slope(double x) {
    const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
    return normal_share_below(x) + x * density;
  }
};

struct Sigmoid {
  static double value(double x) { return sigmoid(x); }
  static double slope(double x) { return sigmoid(x) * (1 - sigmoid(x)); }
};

struct Silu {
  static double value(double x) { return x * sigmoid(x); }
  static double slope(double x) { return sigmoid(x) * (1 + x * (1 - sigmoid(x))); }
};

struct Tanh {
  static double value(double x) { return std::tanh(x); }
  static double slope(double x) { return 1 - std::tanh(x) * std::tanh(x); }
};

template <typename Function>
class Pointwise final : public Layer {
 public:
  void forward(std::span<const float>, std::span<const double> input,
               std::span<double> output) const override {
    for (size_t i = 0; i < input.size(); ++i) output[i] = Function::value(input[i]);
  }

  void backward(std::span<const float>, const Backward& pass) const override {
    for (size_t i = 0; i < pass.input_gradient.size(); ++i) {
      pass.input_gradient[i] = pass.output_gradient[i] * Function::slope(pass.input[i]);
    }
  }
};

}  // namespace

std::unique_ptr<Layer> make_gelu(const LayerSite&) { return std::make_unique<Pointwise<Gelu>>(); }
std::unique_ptr<Layer> make_relu(const LayerSite&) { return std::make_unique<Pointwise<Relu>>(); }
std::unique_ptr<Layer> make_sigmoid(const LayerSite&) { return std::make_unique<Pointwise<Sigmoid>>(); }
std::unique_ptr<Layer> make_silu(const LayerSite&) { return std::make_unique<Pointwise<Silu>>(); }
std::unique_ptr<Layer> make_tanh(const LayerSite&) { return std::make_unique<Pointwise<Tanh>>(); }

}  // namespace subfleet::reference
