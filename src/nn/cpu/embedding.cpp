#include <algorithm>

#include "nn/cpu/layer.h"
#include "nn/symbols.h"

namespace subfleet::cpu {
namespace {

// The rows of the weights that the symbols name, step by step. A symbol has no gradient.
class Embedding final : public Layer {
 public:
  Embedding(BufferPlan& buffer, const PlanSite& site)
      : batch_(site.batch),
        steps_(site.site.output.height),
        units_(site.site.output.channels),
        symbols_(site.site.spec.symbols) {
    input_ = buffer.reserve_copy(site.input.values, plain_layout(batch_, site.site.input));
    fetch_input_ = make_reorder(buffer, site.input.values, input_);
    const auto layout = step_by_step_layout(batch_, site.site.output);
    output_.values = buffer.reserve(layout);
    if (!site.training) return;
    output_.gradient = buffer.reserve(layout);
    weight_gradient_ = buffer.reserve(plain_layout(symbols_, {units_, 1, 1}));
  }

  const Flow& output() const override { return output_; }

  void forward(const dnnl::stream& stream, std::span<const float> weights) override {
    fetch_input_.run(stream);
    float* y = data(output_.values);
    for_each_symbol([&](size_t symbol, size_t at) {
      std::copy_n(weights.data() + symbol * units_, units_, y + at * units_);
    });
  }

  void backward(const dnnl::stream&, std::span<float> weights, float client_lr) override {
    const float* dy = data(output_.gradient);
    float* gradient = data(weight_gradient_);  // summed first: small steps on large weights would be lost
    std::fill_n(gradient, weights.size(), 0.0f);
    for_each_symbol([&](size_t symbol, size_t at) {
      for (size_t u = 0; u < units_; ++u) gradient[symbol * units_ + u] += dy[at * units_ + u];
    });
    for (size_t i = 0; i < weights.size(); ++i) weights[i] -= client_lr * gradient[i];
  }

 private:
  // Calls visit(symbol, row of the output).
  template <typename Visit>
  void for_each_symbol(Visit&& visit) const {
    const float* x = data(input_);
    for (size_t t = 0; t < steps_; ++t) {
      for (size_t n = 0; n < batch_; ++n) visit(symbol_at(x[n * steps_ + t], symbols_), t * batch_ + n);
    }
  }

  size_t batch_, steps_, units_, symbols_;
  dnnl::memory input_, weight_gradient_;
  Call fetch_input_;
  Flow output_;
};

}  // namespace

std::unique_ptr<Layer> make_embedding(BufferPlan& buffer, const PlanSite& site) {
  return std::make_unique<Embedding>(buffer, site);
}

}  // namespace subfleet::cpu
