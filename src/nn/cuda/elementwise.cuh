#pragma once

#include <cstddef>

#include "nn/cuda/device.h"

namespace subfleet::cuda {

template <typename Body>
__global__ void each_kernel(Body body, size_t count) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) body(i);
}

// Calls body(i), a device function object, for every i below count.
template <typename Body>
void for_each(size_t count, cudaStream_t stream, const Body& body) {
  constexpr unsigned kBlock = 256;
  if (count == 0) return;
  each_kernel<<<static_cast<unsigned>((count + kBlock - 1) / kBlock), kBlock, 0, stream>>>(body, count);
}

}  // namespace subfleet::cuda
