#pragma once

#include "nn/cpu/kernels.h"

namespace subfleet::cpu {

extern const Kernels kAvx512Kernels;
extern const Kernels kAvx2Kernels;

}  // namespace subfleet::cpu
