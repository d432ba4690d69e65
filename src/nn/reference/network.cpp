#include "nn/reference/network.h"

#include <algorithm>

#include "nn/next_symbol.h"
#include "nn/reference/layer.h"

namespace subfleet::reference {
namespace {

class ReferenceNetwork final : public Network {
 public:
  explicit ReferenceNetwork(const ModelSpec& model)
      : sites_(layer_sites(model)),
        learns_(learning_values(sites_)),
        rows_(logit_rows(model)),
        values_(sites_.size() + 1) {
    for (const LayerSite& site : sites_) layers_.push_back(make_layer(site));
  }

  void set_channel_groups(std::span<const std::vector<uint32_t>> groups) override {
    size_t next = 0;
    for (size_t i = 0; i < layers_.size(); ++i) {
      if (!has_channel_groups(sites_[i].spec)) continue;
      layers_[i]->set_channel_groups(groups.empty() ? equal_channel_groups(sites_[i]) : groups[next++]);
    }
  }

  Score train_step(std::span<float> weights, const Batch& batch, float client_lr) override {
    forward(weights, batch.inputs);
    const std::vector<double> rows = by_step(values_.back());
    std::vector<double> row_gradient(rows.size());
    const Score score = score_steps<double>(rows, batch, rows_, classes(), row_gradient, labels_);
    std::vector<std::vector<double>> gradients(values_.size());
    for (size_t value = 0; value < values_.size(); ++value) {
      if (learns_[value]) gradients[value].assign(values_[value].size(), 0.0);
    }
    gradients.back() = from_steps(row_gradient);
    for (size_t i = layers_.size(); i-- > 0;) {
      const bool learns_before =
          std::ranges::any_of(sites_[i].inputs, [&](uint32_t value) { return learns_[value]; });
      std::vector<double> input_gradient(learns_before ? input_size(i) : 0);
      std::vector<double> weight_gradient(sites_[i].weights_count);
      const std::span<float> own = own_weights(weights, i);
      scale(sites_[i].spec.output_scale, gradients[i + 1]);
      layers_[i]->backward(own, {input_of(i), gradients[i + 1], input_gradient, weight_gradient});
      scale(sites_[i].spec.input_scale, input_gradient);
      for (const uint32_t value : sites_[i].inputs) {  // of a sum, each gets the whole gradient
        for (size_t k = 0; k < gradients[value].size(); ++k) gradients[value][k] += input_gradient[k];
      }
      for (size_t w = 0; w < own.size(); ++w)
        own[w] = static_cast<float>(own[w] - client_lr * weight_gradient[w]);
    }
    return score;
  }

  void infer(std::span<const float> weights, std::span<const float> inputs,
             std::span<float> logits) override {
    forward(weights, inputs);
    const std::vector<double> rows = by_step(values_.back());
    std::ranges::transform(std::span(rows).last(logits.size()), logits.begin(),
                           [](double v) { return static_cast<float>(v); });
  }

 private:
  template <typename T>
  std::span<T> own_weights(std::span<T> weights, size_t layer) const {
    return weights.subspan(sites_[layer].weights_offset, sites_[layer].weights_count);
  }

  size_t input_size(size_t layer) const { return values_[sites_[layer].inputs.front()].size(); }

  // What the layer reads: a value, scaled, or the sum of several.
  std::vector<double> input_of(size_t layer) const {
    std::vector<double> input(input_size(layer), 0.0);
    for (const uint32_t value : sites_[layer].inputs) {
      for (size_t k = 0; k < input.size(); ++k) input[k] += values_[value][k];
    }
    scale(sites_[layer].spec.input_scale, input);
    return input;
  }

  static void scale(double factor, std::vector<double>& values) {
    for (double& value : values) value *= factor;
  }

  size_t classes() const { return sites_.back().output.size() / rows_; }

  // The output, classes x steps of each example, as rows of classes: all examples' first steps, then their
  // second steps, ...
  std::vector<double> by_step(const std::vector<double>& values) const {
    std::vector<double> rows(values.size());
    for_each_place(values.size(), [&](size_t value, size_t row) { rows[row] = values[value]; });
    return rows;
  }

  std::vector<double> from_steps(const std::vector<double>& rows) const {
    std::vector<double> values(rows.size());
    for_each_place(rows.size(), [&](size_t value, size_t row) { values[value] = rows[row]; });
    return values;
  }

  template <typename Visit>
  void for_each_place(size_t size, Visit&& visit) const {
    const size_t batch = size / sites_.back().output.size();
    for (size_t n = 0; n < batch; ++n) {
      for (size_t c = 0; c < classes(); ++c) {
        for (size_t t = 0; t < rows_; ++t)
          visit((n * classes() + c) * rows_ + t, (t * batch + n) * classes() + c);
      }
    }
  }

  void forward(std::span<const float> weights, std::span<const float> inputs) {
    values_[0].assign(inputs.begin(), inputs.end());
    const size_t batch = sites_.empty() ? 0 : inputs.size() / sites_[0].input.size();
    for (size_t i = 0; i < layers_.size(); ++i) {
      values_[i + 1].resize(batch * sites_[i].output.size());
      layers_[i]->forward(own_weights(weights, i), input_of(i), values_[i + 1]);
      scale(sites_[i].spec.output_scale, values_[i + 1]);
    }
  }

  std::vector<LayerSite> sites_;
  std::vector<bool> learns_;  // which values depend on weights
  size_t rows_;               // of logits, per example
  std::vector<std::unique_ptr<Layer>> layers_;
  std::vector<std::vector<double>> values_;
  std::vector<int32_t> labels_;
};

}  // namespace

std::unique_ptr<Network> make_network(const ModelSpec& model) {
  return std::make_unique<ReferenceNetwork>(model);
}

}  // namespace subfleet::reference
