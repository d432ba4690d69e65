#pragma once

#include <memory>
#include <span>

#include "nn/cpu/room.h"
#include "nn/network.h"

namespace subfleet::cpu {

// What goes from one layer to the next, in whatever layout the layer before chose, as N,C,H,W.
struct Flow {
  dnnl::memory values;
  dnnl::memory gradient;  // of the same layout; none where nothing before it learns
};

// Where a layer sits, for one batch size.
struct PlanSite {
  LayerSite site;
  size_t batch = 0;
  bool training = true;
  Flow input;
};

// The arithmetic of one layer for one batch size. The tensors lie in the plan's room.
class Layer {
 public:
  virtual ~Layer() = default;
  virtual const Flow& output() const = 0;

  virtual void forward(const dnnl::stream& stream, std::span<const float> weights) = 0;

  // From the output's gradient: writes the input's, where there is one, then makes an SGD step on the
  // weights.
  virtual void backward(const dnnl::stream& stream, std::span<float> weights, float client_lr) = 0;
};

// Shape in plain N,C,H,W order.
dnnl::memory::desc plain_layout(size_t batch, const Shape& shape);
float* data(const dnnl::memory& tensor);

// The layer for a site, by its type; throws Error naming the nearest.
std::unique_ptr<Layer> make_layer(Room& room, const PlanSite& site);

std::unique_ptr<Layer> make_conv2d(Room& room, const PlanSite& site);
std::unique_ptr<Layer> make_dense(Room& room, const PlanSite& site);
std::unique_ptr<Layer> make_flatten(Room& room, const PlanSite& site);
std::unique_ptr<Layer> make_maxpool(Room& room, const PlanSite& site);
std::unique_ptr<Layer> make_relu(Room& room, const PlanSite& site);

}  // namespace subfleet::cpu
