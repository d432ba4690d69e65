#pragma once

#include <memory>
#include <span>

#include "nn/network.h"

namespace subfleet::reference {

// What backward() reads and writes.
struct Backward {
  std::span<const double> input;            // as it was in forward()
  std::span<const double> output_gradient;  // of the loss, with respect to the output
  std::span<double> input_gradient;         // written; empty if it is not needed
  std::span<double> weight_gradient;        // written
};

// The arithmetic of one layer in plain loops, for any number of examples one after the other in C,H,W order.
// Weights are floats, everything else is double: the other trainers are checked against it.
class Layer {
 public:
  virtual ~Layer() = default;
  virtual void forward(std::span<const float> weights, std::span<const double> input,
                       std::span<double> output) const = 0;
  virtual void backward(std::span<const float> weights, const Backward& pass) const = 0;
  virtual void set_channel_groups(std::span<const uint32_t> /*ends*/) {
  }  // of a normalisation over such groups
};

// Makes the layer of a site's type; throws Error naming the nearest type.
std::unique_ptr<Layer> make_layer(const LayerSite& site);

std::unique_ptr<Layer> make_attention(const LayerSite& site);
std::unique_ptr<Layer> make_avgpool(const LayerSite& site);
std::unique_ptr<Layer> make_conv2d(const LayerSite& site);
std::unique_ptr<Layer> make_dense(const LayerSite& site);
std::unique_ptr<Layer> make_embedding(const LayerSite& site);
std::unique_ptr<Layer> make_gelu(const LayerSite& site);
std::unique_ptr<Layer> make_gru(const LayerSite& site);
std::unique_ptr<Layer> make_groupnorm(const LayerSite& site);
std::unique_ptr<Layer> make_identity(const LayerSite& site);
std::unique_ptr<Layer> make_layernorm(const LayerSite& site);
std::unique_ptr<Layer> make_lstm(const LayerSite& site);
std::unique_ptr<Layer> make_maxpool(const LayerSite& site);
std::unique_ptr<Layer> make_position(const LayerSite& site);
std::unique_ptr<Layer> make_relu(const LayerSite& site);
std::unique_ptr<Layer> make_scale(const LayerSite& site);
std::unique_ptr<Layer> make_sigmoid(const LayerSite& site);
std::unique_ptr<Layer> make_silu(const LayerSite& site);
std::unique_ptr<Layer> make_tanh(const LayerSite& site);

}  // namespace subfleet::reference
