#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "nn/cuda/device.h"

namespace subfleet::cuda {

// Host memory that the GPU reads by itself: a copy from it does not hold up the host, as one from ordinary
// memory may.
class Staging {
 public:
  Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging();

  // At least so many bytes to fill; waits for the copy before to end.
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
