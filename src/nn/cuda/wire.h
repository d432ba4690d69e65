#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nn/cuda/device.h"
#include "nn/cuda/staging.h"
#include "subfleet/codec.h"

namespace subfleet::cuda {

// One job's part of a transmission. Both pointers are to `count` values on the GPU.
struct WireJob {
  float* values = nullptr;
  float* given = nullptr;  // what arrived at the job when the round began
  uint32_t count = 0;
  RandomKey key;
};

// Applies codecs on the GPU to the values of many jobs at once, with the host's bits. A codec without a
// kernel here runs on the host.
class WireKernels {
 public:
  // Replaces every job's values by what arrives of them; `given` gets the same.
  void send_down(const Codec& codec, std::span<const WireJob> jobs, cudaStream_t stream);
  // Replaces the values by what arrives of the update, values - given.
  void send_up(const Codec& codec, std::span<const WireJob> jobs, cudaStream_t stream);

 private:
  void send(const Codec& codec, std::span<const WireJob> jobs, bool up, cudaStream_t stream);

  Staging staging_;
  Buffer<std::byte> table_;  // the jobs
};

}  // namespace subfleet::cuda
