#pragma once

namespace subfleet {

// Added to the variance, PyTorch's default.
inline constexpr double kNormalisationEpsilon = 1e-5;

}  // namespace subfleet
