#pragma once

#include <memory>
#include <span>

#include "nn/cpu/buffer_plan.h"
#include "nn/cpu/primitive_call.h"
#include "nn/network.h"

namespace subfleet::cpu {

// What goes from one layer to the next, as N,C,H,W, in the layout that the layer before chose.
struct Flow {
  dnnl::memory values;
  dnnl::memory gradient;  // of the same layout; empty if no layer before it learns
  bool shared = false;    // others read the values too, so they may not be changed in place
};

// A layer's place in the network, for one batch size.
struct PlanSite {
  LayerSite site;
  size_t batch = 0;
  bool training = true;
  Flow input;
  std::vector<Flow> more = {};  // what an add reads besides
};

// The arithmetic of one layer for one batch size. The tensors lie in the plan's buffer.
class Layer {
 public:
  virtual ~Layer() = default;
  virtual const Flow& output() const = 0;

  virtual void forward(const dnnl::stream& stream, std::span<const float> weights) = 0;

  // Of a normalisation over such groups.
  virtual void set_channel_groups(std::span<const uint32_t> /*ends*/) {}

  // Reads the output's gradient, writes the input's gradient if there is one, and then makes an SGD step on
  // the weights.
  virtual void backward(const dnnl::stream& stream, std::span<float> weights, float client_lr) = 0;
};

// A layer without weights: one call forward, one back.
class WeightlessLayer : public Layer {
 public:
  const Flow& output() const final { return output_; }
  void forward(const dnnl::stream& stream, std::span<const float>) final { forward_.run(stream); }
  void backward(const dnnl::stream& stream, std::span<float>, float) final { backward_.run(stream); }

 protected:
  Flow output_;
  Call forward_, backward_;
};

// Shape in plain N,C,H,W order.
dnnl::memory::desc plain_layout(size_t batch, const Shape& shape);
// A sequence, stored step by step: all examples' first steps, then all their second steps, ... H,W,N,C.
dnnl::memory::desc step_by_step_layout(size_t batch, const Shape& shape);
float* data(const dnnl::memory& tensor);

// Makes the layer of a site's type; throws Error naming the nearest type.
std::unique_ptr<Layer> make_layer(BufferPlan& buffer, const PlanSite& site);

std::unique_ptr<Layer> make_add(BufferPlan& buffer, const PlanSite& site);
std::unique_ptr<Layer> make_attention(BufferPlan& buffer, const PlanSite& site);
std::unique_ptr<Layer> make_avgpool(BufferPlan& buffer, const PlanSite& site);
std::unique_ptr<Layer> make_conv2d(BufferPlan& buffer, const PlanSite& site);
std::unique_ptr<Layer> make_dense(BufferPlan& buffer, const PlanSite& site);
std::unique_ptr<Layer> make_embedding(BufferPlan& buffer, const PlanSite& site);
std::unique_ptr<Layer> make_flatten(BufferPlan& buffer, const PlanSite& site);
std::unique_ptr<Layer> make_gelu(BufferPlan& buffer, const PlanSite& site);
std::unique_ptr<Layer> make_groupnorm(BufferPlan& buffer, const PlanSite& site);
std::unique_ptr<Layer> make_gru(BufferPlan& buffer, const PlanSite& site);
std::unique_ptr<Layer> make_layernorm(BufferPlan& buffer, const PlanSite& site);
std::unique_ptr<Layer> make_lstm(BufferPlan& buffer, const PlanSite& site);
std::unique_ptr<Layer> make_maxpool(BufferPlan& buffer, const PlanSite& site);
std::unique_ptr<Layer> make_position(BufferPlan& buffer, const PlanSite& site);
std::unique_ptr<Layer> make_relu(BufferPlan& buffer, const PlanSite& site);
std::unique_ptr<Layer> make_scale(BufferPlan& buffer, const PlanSite& site);
std::unique_ptr<Layer> make_sigmoid(BufferPlan& buffer, const PlanSite& site);
std::unique_ptr<Layer> make_silu(BufferPlan& buffer, const PlanSite& site);
std::unique_ptr<Layer> make_tanh(BufferPlan& buffer, const PlanSite& site);

// The fast path, for 5x5 filters over channels that fill vectors.
bool suits_winograd(const LayerSite& site);
std::unique_ptr<Layer> make_winograd_conv2d(BufferPlan& buffer, const PlanSite& site);

}  // namespace subfleet::cpu
