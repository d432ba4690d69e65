#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "nn/cuda/device.h"

namespace subfleet::cuda {

// Host memory that the GPU reads by itself (pinned). Copying from it never blocks the host; copying from
// ordinary memory may.
class Staging {
 public:
  Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging();

  // Returns at least `bytes` bytes to fill; waits until the copy before has ended.
  std::byte* take(size_t bytes);
  size_t size() const { return bytes_; }
  void upload(Buffer<std::byte>& to, size_t bytes, cudaStream_t stream);

 private:
  void release();

  std::byte* at_ = nullptr;
  size_t bytes_ = 0;
  cudaEvent_t copied_ = nullptr;
};

}  // namespace subfleet::cuda
