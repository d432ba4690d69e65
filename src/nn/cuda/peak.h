#pragma once

namespace subfleet::cuda {

// Floating-point operations per second, in f32, that the GPU reaches when it works in registers only.
double f32_peak();

}  // namespace subfleet::cuda
