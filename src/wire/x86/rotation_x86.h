#pragma once

#include "wire/rotation_kernels.h"

namespace subfleet {

extern const RotationKernels kAvx512Rotation;
extern const RotationKernels kAvx2Rotation;

}  // namespace subfleet
