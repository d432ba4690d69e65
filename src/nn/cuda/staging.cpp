#include "nn/cuda/staging.h"

#include <algorithm>
#include <utility>

namespace subfleet::cuda {

Staging::Staging() { check(cudaEventCreateWithFlags(&copied_, cudaEventDisableTiming), "making an event"); }

Staging::~Staging() {
  cudaEventSynchronize(copied_);
  release();
  cudaEventDestroy(copied_);
}

std::byte* Staging::take(size_t bytes) {
  check(cudaEventSynchronize(copied_), "waiting for a copy to the GPU");
  if (bytes > bytes_) {
    const size_t wanted = std::max(bytes, 2 * bytes_);  // rounds differ a little in what they need
    release();
    void* at = nullptr;
    check(cudaMallocHost(&at, wanted), "taking host memory that the GPU reads");
    at_ = static_cast<std::byte*>(at);
    bytes_ = wanted;
  }
  return at_;
}

void Staging::upload(Buffer<std::byte>& to, size_t bytes, cudaStream_t stream) {
  to.upload({at_, bytes}, stream);
  check(cudaEventRecord(copied_, stream), "noting a copy to the GPU");
}

void Staging::release() {
  if (at_ != nullptr) cudaFreeHost(std::exchange(at_, nullptr));
  bytes_ = 0;
}

}  // namespace subfleet::cuda
