#include "wire/x86/rotation_x86.h"

namespace subfleet {

std::vector<const RotationKernels*> special_rotation_kernels() {
  std::vector<const RotationKernels*> usable;
  if (__builtin_cpu_supports("avx512f")) usable.push_back(&kAvx512Rotation);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) usable.push_back(&kAvx2Rotation);
  return usable;
}

}  // namespace subfleet
