#include "wire/rotation_kernels.h"

namespace subfleet {

std::vector<const RotationKernels*> special_rotation_kernels() { return {}; }

}  // namespace subfleet
