#include "nn/reference/network.h"

#include <algorithm>

#include "nn/reference/layer.h"

namespace subfleet::reference {
namespace {

class ReferenceNetwork final : public Network {
 public:
  explicit ReferenceNetwork(const ModelSpec& model) : sites_(layer_sites(model)), values_(sites_.size() + 1) {
    for (const LayerSite& site : sites_) layers_.push_back(make_layer(site));
  }

  Score train_step(std::span<float> weights, const Batch& batch, float client_lr) override {
    forward(weights, batch.inputs);
    std::vector<double> output_gradient(values_.back().size());
    const Score score = softmax_cross_entropy(values_.back(), batch.labels, output_gradient);
    for (size_t i = layers_.size(); i-- > 0;) {
      std::vector<double> input_gradient(i == 0 ? 0 : values_[i].size());
      std::vector<double> weight_gradient(sites_[i].weights_count);
      const std::span<float> own = own_weights(weights, i);
      scale_output(i, output_gradient);
      layers_[i]->backward(own, {values_[i], output_gradient, input_gradient, weight_gradient});
      for (size_t w = 0; w < own.size(); ++w)
        own[w] = static_cast<float>(own[w] - client_lr * weight_gradient[w]);
      output_gradient = std::move(input_gradient);
    }
    return score;
  }

  void infer(std::span<const float> weights, std::span<const float> inputs,
             std::span<float> logits) override {
    forward(weights, inputs);
    std::ranges::transform(values_.back(), logits.begin(), [](double v) { return static_cast<float>(v); });
  }

 private:
  template <typename T>
  std::span<T> own_weights(std::span<T> weights, size_t layer) const {
    return weights.subspan(sites_[layer].weights_offset, sites_[layer].weights_count);
  }

  // Of the values that leave the layer, and of their gradient on the way back.
  void scale_output(size_t layer, std::vector<double>& values) const {
    for (double& value : values) value *= sites_[layer].spec.output_scale;
  }

  void forward(std::span<const float> weights, std::span<const float> inputs) {
    values_[0].assign(inputs.begin(), inputs.end());
    const size_t batch = sites_.empty() ? 0 : inputs.size() / sites_[0].input.size();
    for (size_t i = 0; i < layers_.size(); ++i) {
      values_[i + 1].resize(batch * sites_[i].output.size());
      layers_[i]->forward(own_weights(weights, i), values_[i], values_[i + 1]);
      scale_output(i, values_[i + 1]);
    }
  }

  std::vector<LayerSite> sites_;
  std::vector<std::unique_ptr<Layer>> layers_;
  std::vector<std::vector<double>> values_;  // what enters each layer, and the logits
};

}  // namespace

std::unique_ptr<Network> make_network(const ModelSpec& model) {
  return std::make_unique<ReferenceNetwork>(model);
}

}  // namespace subfleet::reference
