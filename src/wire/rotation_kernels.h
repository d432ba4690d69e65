#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

// The host's code for rotation.h: one table of functions for each kind of vector unit, all with the same
// bits.
namespace subfleet {

// For a block of 1,024 values; `signs` are its kSignWords.
struct RotationKernels {
  std::string_view name;
  // Writes the planes and returns the scale.
  float (*encode)(const float* values, const uint32_t* signs, int bits, uint8_t* planes);
  void (*decode)(const uint8_t* planes, float scale, const uint32_t* signs, int bits, float* values);
  // Replaces the values by what arrives.
  void (*transmit)(float* values, const uint32_t* signs, int bits);
};

// The same for a block of any size, in plain loops.
float encode_rotated(const float* values, size_t size, const uint32_t* signs, int bits, uint8_t* planes);
void decode_rotated(const uint8_t* planes, size_t size, float scale, const uint32_t* signs, int bits,
                    float* values);
void transmit_rotated(float* values, size_t size, const uint32_t* signs, int bits);

// All kernels that this CPU can run, fastest first; the last one is "portable".
std::vector<const RotationKernels*> usable_rotation_kernels();
// The kernels that not every CPU can run, fastest first.
std::vector<const RotationKernels*> special_rotation_kernels();

}  // namespace subfleet
