#include <algorithm>

#include "nn/reference/layer.h"
#include "nn/symbols.h"

namespace subfleet::reference {
namespace {

// y[u][t] = weight[x[t]][u]; there is no gradient with respect to a symbol.
class Embedding final : public Layer {
 public:
  explicit Embedding(const LayerSite& site)
      : symbols_(site.spec.symbols), units_(site.output.channels), steps_(site.output.height) {}

  void forward(std::span<const float> weights, std::span<const double> input,
               std::span<double> output) const override {
    for_each_value(input, [&](size_t weight, size_t y) { output[y] = weights[weight]; });
  }

  void backward(std::span<const float>, const Backward& pass) const override {
    std::ranges::fill(pass.weight_gradient, 0.0);
    std::ranges::fill(pass.input_gradient, 0.0);
    for_each_value(pass.input,
                   [&](size_t weight, size_t y) { pass.weight_gradient[weight] += pass.output_gradient[y]; });
  }

 private:
  // Calls visit(weight, output), the indices of the two, for every value that leaves.
  template <typename Visit>
  void for_each_value(std::span<const double> input, Visit&& visit) const {
    for (size_t x = 0; x < input.size(); ++x) {
      const size_t symbol = symbol_at(input[x], symbols_);
      const size_t n = x / steps_, t = x % steps_;
      for (size_t u = 0; u < units_; ++u) visit(symbol * units_ + u, (n * units_ + u) * steps_ + t);
    }
  }

  size_t symbols_, units_, steps_;
};

}  // namespace

std::unique_ptr<Layer> make_embedding(const LayerSite& site) { return std::make_unique<Embedding>(site); }

}  // namespace subfleet::reference
