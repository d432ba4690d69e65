#pragma once

#include <memory>
#include <vector>

#include "nn/cuda/layer.h"

namespace subfleet::cuda {

// What JobNetwork::reserve() takes per job of such a network, about.
size_t network_bytes_per_job(const ModelSpec& model, int rows, bool learns, size_t history);

// The layers of one model for batches of one size, and room for what flows between them, for many jobs at
// once.
class JobNetwork {
 public:
  // `history`: LayerPlan's.
  JobNetwork(const ModelSpec& model, int rows, bool tf32, size_t history);

  // Room for so many jobs; `learns`: for backward() too.
  void reserve(int jobs, bool learns);

  void begin_round(const Step& step, int steps);
  void end_round(const Step& step);
  float* input() { return input_.data(); }  // [job][row][feature]
  // The logits, [job][row][class], of input() or of what is given instead of it.
  const float* forward(const Step& step, const float* input);
  float* logits_gradient() { return gradients_[layers_.size() % 2].data(); }
  // From logits_gradient(), of the input of the last forward(); steps the weights.
  void backward(const Step& step, const float* input);

  Stream& stream() { return stream_; }

 private:
  std::vector<LayerPlan> plans_;
  std::vector<std::unique_ptr<Layer>> layers_;
  int rows_;
  size_t features_;        // values per row of the input
  size_t widest_ = 0;      // and of the largest between two layers
  size_t first_learning_;  // the first layer with weights: before it nobody asks for a gradient
  Buffer<float> input_;
  std::vector<Buffer<float>> outputs_;
  Buffer<float> gradients_[2];
  Stream stream_;
};

}  // namespace subfleet::cuda
