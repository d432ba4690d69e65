#include <numeric>

#include "nn/reference/layer.h"

namespace subfleet::reference {
namespace {

// The mean over all positions of a channel; each position gets an equal share of the gradient.
class AvgPool final : public Layer {
 public:
  explicit AvgPool(const LayerSite& site) : plane_(site.input.height * site.input.width) {}

  void forward(std::span<const float>, std::span<const double> input,
               std::span<double> output) const override {
    for (size_t y = 0; y < output.size(); ++y) {
      const std::span<const double> channel = input.subspan(y * plane_, plane_);
      output[y] = std::accumulate(channel.begin(), channel.end(), 0.0) / static_cast<double>(plane_);
    }
  }

  void backward(std::span<const float>, const Backward& pass) const override {
    for (size_t x = 0; x < pass.input_gradient.size(); ++x) {
      pass.input_gradient[x] = pass.output_gradient[x / plane_] / static_cast<double>(plane_);
    }
  }

 private:
  size_t plane_;  // positions of a channel
};

}  // namespace

std::unique_ptr<Layer> make_avgpool(const LayerSite& site) { return std::make_unique<AvgPool>(site); }

}  // namespace subfleet::reference
