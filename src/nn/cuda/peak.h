#pragma once

namespace subfleet::cuda {

// Floating-point operations per second that the GPU reaches on registers alone, in f32.
double f32_peak();

}  // namespace subfleet::cuda
