#pragma once

#include <memory>

#include "nn/cuda/device.h"
#include "nn/network.h"

namespace subfleet::cuda {

// One step of many jobs at once. Each job has `rows` examples of its own data, and its own weights.
struct Step {
  cudaStream_t stream;
  int jobs, rows;
  float* weights;  // the first job's whole model
  size_t stride;   // to the next job's weights; 0: all jobs share them (inference only)
  float client_lr;
  uint32_t index = 0;  // the step's number in the round
  const float* whole =
      nullptr;  // what all jobs' weights were when the round began, if they have the whole model
};

// A layer's place in the network, and the work that it does for its neighbours.
struct LayerPlan {
  LayerSite site;
  int rows = 0;
  bool tf32 = false;         // large products may round their factors to TF32
  bool relu_after = false;   // does the ReLU that follows: the incoming gradient is 0 where y is
  bool relu_before = false;  // the layer before did a ReLU: dx must be 0 where x is
  size_t history = 0;  // rows that the jobs' rounds have at most, where Step::whole is given; 0: it is not
  size_t pool = 0;     // the window of a maxpool that follows, after ReLU, and both are done here
};

// The arithmetic of one layer for all jobs of a step. Values are stored as
// [job][row][channel][height][width]. One file per type, and one line in network.cpp.
class Layer {
 public:
  virtual ~Layer() = default;
  // Makes room for that many jobs, if the layer needs any.
  virtual void reserve(int /*jobs*/) {}
  // Called before the round's first step, with the number of steps, and after the last. A layer that delays
  // its weight steps makes them in end_round().
  virtual void begin_round(const Step&, int /*steps*/) {}
  virtual void end_round(const Step&) {}
  virtual void forward(const Step& step, const float* x, float* y) = 0;
  // Called after forward() of the same step. Writes the gradient of x unless dx is null, then steps the
  // weights.
  virtual void backward(const Step& step, const float* x, const float* y, const float* dy, float* dx) = 0;
};

std::unique_ptr<Layer> make_avgpool(const LayerPlan& plan);
std::unique_ptr<Layer> make_conv2d(const LayerPlan& plan);
std::unique_ptr<Layer> make_dense(const LayerPlan& plan);
// Suits large layers that every job holds whole.
bool fits_factored_dense(const LayerSite& dense, int rows);
std::unique_ptr<Layer> make_factored_dense(const LayerPlan& plan);
std::unique_ptr<Layer> make_embedding(const LayerPlan& plan);
// Suits a convolution of one channel, first in its network, with ReLU and a maxpool after it.
bool fits_grey_conv(const LayerSite& conv, size_t pool);
std::unique_ptr<Layer> make_grey_conv(const LayerPlan& plan);
std::unique_ptr<Layer> make_lstm(const LayerPlan& plan);
std::unique_ptr<Layer> make_maxpool(const LayerPlan& plan);
std::unique_ptr<Layer> make_relu(const LayerPlan& plan);

}  // namespace subfleet::cuda
