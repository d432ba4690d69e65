#include "nn/normalisation.h"

#include <cmath>
#include <functional>
#include <vector>

#include "nn/reference/layer.h"

namespace subfleet::reference {
namespace {

// y = weight[c] (x - mean) / sqrt(variance + epsilon) + bias[c], with mean and variance of the stretch of
// values that is normalised together.
class Normalisation : public Layer {
 public:
  explicit Normalisation(const LayerSite& site) : shape_(site.input) {}

  void forward(std::span<const float> weights, std::span<const double> input,
               std::span<double> output) const override {
    for_each_set(input.size(), [&](const std::vector<size_t>& set) {
      const Moments moments = moments_of(input, set);
      for (const size_t i : set) {
        output[i] = weights[channel(i)] * (input[i] - moments.mean) * moments.scale +
                    weights[shape_.channels + channel(i)];
      }
    });
  }

  void backward(std::span<const float> weights, const Backward& pass) const override {
    for (double& value : pass.weight_gradient) value = 0;
    for_each_set(pass.input.size(), [&](const std::vector<size_t>& set) {
      const Moments moments = moments_of(pass.input, set);
      double sum = 0, product = 0;  // of the normalised values' gradients, and of them times the values
      for (const size_t i : set) {
        const double normal = (pass.input[i] - moments.mean) * moments.scale;
        pass.weight_gradient[channel(i)] += pass.output_gradient[i] * normal;
        pass.weight_gradient[shape_.channels + channel(i)] += pass.output_gradient[i];
        sum += pass.output_gradient[i] * weights[channel(i)];
        product += pass.output_gradient[i] * weights[channel(i)] * normal;
      }
      if (pass.input_gradient.empty()) return;
      const auto count = static_cast<double>(set.size());
      for (const size_t i : set) {
        const double normal = (pass.input[i] - moments.mean) * moments.scale;
        pass.input_gradient[i] = moments.scale * (pass.output_gradient[i] * weights[channel(i)] -
                                                  sum / count - normal * product / count);
      }
    });
  }

 protected:
  // Calls visit(indices) for every set of values that is normalised together.
  using Visit = std::function<void(const std::vector<size_t>&)>;
  virtual void for_each_set(size_t size, const Visit& visit) const = 0;

  const Shape shape_;

 private:
  struct Moments {
    double mean = 0, scale = 0;
  };

  static Moments moments_of(std::span<const double> values, const std::vector<size_t>& set) {
    double mean = 0, variance = 0;
    for (const size_t i : set) mean += values[i] / static_cast<double>(set.size());
    for (const size_t i : set)
      variance += (values[i] - mean) * (values[i] - mean) / static_cast<double>(set.size());
    return {mean, 1 / std::sqrt(variance + kNormalisationEpsilon)};
  }

  size_t channel(size_t i) const { return i / (shape_.height * shape_.width) % shape_.channels; }
};

class GroupNorm final : public Normalisation {
 public:
  explicit GroupNorm(const LayerSite& site) : Normalisation(site), ends_(equal_channel_groups(site)) {}

  void set_channel_groups(std::span<const uint32_t> ends) override { ends_.assign(ends.begin(), ends.end()); }

 private:
  void for_each_set(size_t size, const Visit& visit) const override {
    const size_t plane = shape_.height * shape_.width;
    for (size_t example = 0; example < size / shape_.size(); ++example) {
      size_t begin = 0;
      for (const uint32_t end : ends_) {
        std::vector<size_t> set;
        for (size_t i = begin * plane; i < end * plane; ++i) set.push_back(example * shape_.size() + i);
        if (!set.empty()) visit(set);
        begin = end;
      }
    }
  }

  std::vector<uint32_t> ends_;
};

class LayerNorm final : public Normalisation {
 public:
  using Normalisation::Normalisation;

 private:
  void for_each_set(size_t size, const Visit& visit) const override {
    for (size_t example = 0; example < size / shape_.size(); ++example) {
      for (size_t step = 0; step < shape_.height; ++step) {
        std::vector<size_t> set;
        for (size_t c = 0; c < shape_.channels; ++c) {
          set.push_back((example * shape_.channels + c) * shape_.height + step);
        }
        visit(set);
      }
    }
  }
};

}  // namespace

std::unique_ptr<Layer> make_groupnorm(const LayerSite& site) { return std::make_unique<GroupNorm>(site); }
std::unique_ptr<Layer> make_layernorm(const LayerSite& site) { return std::make_unique<LayerNorm>(site); }

}  // namespace subfleet::reference
