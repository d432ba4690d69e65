#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "nn/cuda/device.h"
#include "nn/cuda/server_step.h"
#include "subfleet/server_optimizer.h"
#include "subfleet/server_state.h"

namespace subfleet::cuda {

// A server's state in a GPU's memory, from round to round; every call goes to one stream, which outlives it.
// What the host asks to see is copied then, and only if it has changed since.
class CudaState final : public ServerState {
 public:
  CudaState(const ModelSpec& model, const OptimizerOptions& options, cudaStream_t stream);

  const ModelSpec& model() const override { return model_; }
  std::span<const float> weights() override;
  std::vector<Moment> moments() override;
  std::span<const float> tested_weights() override;
  void set_weights(std::span<const float> weights) override;
  void set_moments(std::span<const std::vector<float>> moments) override;
  void clear_sum() override;
  void with_sum(const std::function<void(PartialSum&)>& visit) override;
  bool step(const ServerRound& round) override;

  // For the trainer, which adds to the sum on the same stream and counts the examples that it has added.
  size_t size() const { return weights_.size(); }
  const float* device_weights() const { return weights_.data(); }
  const float* device_tested_weights() const { return (averages() ? moments_.front() : weights_).data(); }
  int64_t* sums() { return sums_.data(); }
  uint32_t* holders() { return holders_.data(); }
  void add_examples(uint64_t examples);

 private:
  // Values on the GPU and the copy of them that the host has seen.
  class Values {
   public:
    explicit Values(size_t count) : on_gpu_(count) {}
    size_t size() const { return on_gpu_.size(); }
    const float* data() const { return on_gpu_.data(); }
    float* change() {
      copied_ = false;
      return on_gpu_.data();
    }
    void zero(cudaStream_t stream);
    void set(std::span<const float> values, cudaStream_t stream);
    std::span<const float> on_host(cudaStream_t stream);

   private:
    Buffer<float> on_gpu_;
    std::vector<float> on_host_;
    bool copied_ = false;
  };

  bool averages() const { return !moments_.empty() && step_->moment_names().front() == kAverage; }

  ModelSpec model_;
  cudaStream_t stream_;
  std::unique_ptr<ServerStep> step_;
  Values weights_;
  std::vector<Values> moments_;
  Buffer<int64_t> sums_;
  Buffer<uint32_t> holders_;
  Buffer<uint32_t> not_finite_{1};
  uint64_t examples_ = 0;
  std::optional<PartialSum> host_sum_;  // kept for its memory
};

}  // namespace subfleet::cuda
