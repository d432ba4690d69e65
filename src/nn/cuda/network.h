#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nn/cuda/layer.h"

namespace subfleet::cuda {

// Why a GPU does not train that model; empty if it does.
std::string cuda_misfit(const ModelSpec& model);

// About how much memory JobNetwork::reserve() takes per job.
size_t network_bytes_per_job(const ModelSpec& model, int rows, bool learns, size_t history);

// The layers of one model for batches of one size and many jobs at once, and room for what flows between the
// layers.
class JobNetwork {
 public:
  // `history`: see LayerPlan.
  JobNetwork(const ModelSpec& model, int rows, bool tf32, size_t history);

  // Makes room for `jobs` jobs; `learns`: for backward() too.
  void reserve(int jobs, bool learns);

  void begin_round(const Step& step, int steps);
  void end_round(const Step& step);
  float* input() { return input_.data(); }  // [job][row][feature]
  // The logits, [job][row][class], for `input`, which may be input().
  const float* forward(const Step& step, const float* input);
  float* logits_gradient() { return gradients_[layers_.size() % 2].data(); }
  // Goes back from logits_gradient() through the last forward(), whose input it is given, and steps the
  // weights.
  void backward(const Step& step, const float* input);

  Stream& stream() { return stream_; }

 private:
  std::vector<LayerPlan> plans_;
  std::vector<std::unique_ptr<Layer>> layers_;
  int rows_;
  size_t features_;        // values per row of the input
  size_t widest_ = 0;      // values per row of the largest result between layers
  size_t first_learning_;  // the first layer with weights: no gradient is needed before it
  Buffer<float> input_;
  std::vector<Buffer<float>> outputs_;
  Buffer<float> gradients_[2];
  Stream stream_;
};

}  // namespace subfleet::cuda
