#include "nn/cpu/x86/kernels_x86.h"

namespace subfleet::cpu {

std::vector<const Kernels*> special_kernels() {
  std::vector<const Kernels*> usable;
  if (__builtin_cpu_supports("avx512f")) usable.push_back(&kAvx512Kernels);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) usable.push_back(&kAvx2Kernels);
  return usable;
}

}  // namespace subfleet::cpu
