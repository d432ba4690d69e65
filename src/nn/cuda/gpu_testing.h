#pragma once

#include "nn/cuda/device.h"
#include "subfleet/error.h"

namespace subfleet::cuda {

// Whether this machine has a usable GPU; if so, it becomes the current one.
inline bool has_gpu() {
  try {
    use_gpu();
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace subfleet::cuda

#define SUBFLEET_SKIP_WITHOUT_GPU() \
  if (!::subfleet::cuda::has_gpu()) GTEST_SKIP() << "no GPU that can be used here"
