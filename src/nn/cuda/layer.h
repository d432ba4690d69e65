#pragma once

#include <memory>

#include "nn/cuda/device.h"
#include "nn/network.h"

namespace subfleet::cuda {

// One step of many jobs at once: each has as many rows (examples), of its own data, and weights of its own.
struct Step {
  cudaStream_t stream;
  int jobs, rows;
  float* weights;  // the first job's whole model
  size_t stride;   // to the next job's; 0: all have the same, which is for inference alone
  float client_lr;
  uint32_t index = 0;  // of the step in the round
  const float* whole =
      nullptr;  // what all jobs' weights were when the round began, if they have the whole model
};

// Where a layer stands, and what its neighbours leave to it.
struct LayerPlan {
  LayerSite site;
  int rows = 0;
  bool tf32 = false;         // large products may round their factors
  bool relu_after = false;   // ReLU follows and is done here: the gradient that comes back is 0 where y is
  bool relu_before = false;  // x has been through a ReLU that was done there: dx is to be 0 where x is
  size_t history = 0;  // rows that the jobs' rounds have at most, where Step::whole is given; 0: it is not
  size_t pool = 0;     // the window of a maxpool that follows, after ReLU, and both are done here
};

// The arithmetic of one layer for all jobs of a step. Values lie as [job][row][channel][height][width]. One
// file per type, one line in network.cpp.
class Layer {
 public:
  virtual ~Layer() = default;
  // Room for so many jobs, if it needs any.
  virtual void reserve(int /*jobs*/) {}
  // Before the first of so many steps, and after the last: whoever puts off stepping the weights does it
  // then.
  virtual void begin_round(const Step&, int /*steps*/) {}
  virtual void end_round(const Step&) {}
  virtual void forward(const Step& step, const float* x, float* y) = 0;
  // After forward() of the same step. Writes the gradient of x, unless dx is null, and then steps the
  // weights.
  virtual void backward(const Step& step, const float* x, const float* y, const float* dy, float* dx) = 0;
};

std::unique_ptr<Layer> make_avgpool(const LayerPlan& plan);
std::unique_ptr<Layer> make_conv2d(const LayerPlan& plan);
std::unique_ptr<Layer> make_dense(const LayerPlan& plan);
// Large, and held whole by every job.
bool fits_factored_dense(const LayerSite& dense, int rows);
std::unique_ptr<Layer> make_factored_dense(const LayerPlan& plan);
std::unique_ptr<Layer> make_embedding(const LayerPlan& plan);
// Of one channel, first in its network, with ReLU and a maxpool after it.
bool fits_grey_conv(const LayerSite& conv, size_t pool);
std::unique_ptr<Layer> make_grey_conv(const LayerPlan& plan);
std::unique_ptr<Layer> make_lstm(const LayerPlan& plan);
std::unique_ptr<Layer> make_maxpool(const LayerPlan& plan);
std::unique_ptr<Layer> make_relu(const LayerPlan& plan);

}  // namespace subfleet::cuda
