#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/host_device.h"
#include "subfleet/random.h"
#include "wire/lloyd_max.h"
#include "wire/scale.h"

// The codecs rot1 to rot8 (DRIVE, Vargaftik et al. 2021; EDEN, 2022), as every device computes them. All
// arithmetic is f32, each operation rounded on its own, in the order given here, so that all give the same
// bits. A block of n values x, n a power of two:
//
//   1. x_i changes its sign where bit i of the block's signs is set.
//   2. energy = tree_sum of x_i * x_i; sigma = sqrt(energy).
//   3. y = H x: butterflies (a, b) -> (a + b, a - b) at the distances n/2, n/4, ..., 1.
//   4. z_i = y_i * normaliser(sigma); q_i is the centroid of |z_i|, with a minus where z_i < 0.
//   5. scale = block_scale(sigma, tree_sum of z_i * q_i).
//   6. What arrives: H q, by butterflies at the distances 1, 2, ..., n/2, times the scale, with the signs
//   of 1.
//
// 1/sqrt(n) of the orthonormal transforms cancels out: y_i has the variance |x|^2, and the scale is EDEN's
// |x|^2 / <R x, q>. tree_sum adds the upper half of the values to the lower until one is left.
namespace subfleet {

// Values in a block. The last one has what is left, with zeros up to a power of two.
constexpr size_t kRotatedBlock = 1024;
constexpr size_t kLeastRotatedBlock = 8;  // so that a plane of bits is whole bytes

// How many coefficients the block has that begins when so many values, at least one, are left.
constexpr size_t rotated_block_size(size_t values_left) {
  size_t size = kLeastRotatedBlock;
  while (size < values_left && size < kRotatedBlock) size *= 2;
  return size;
}

// A block in a message: its scale, and `bits` planes of one bit per coefficient. Plane p holds bit p of the
// levels, the last plane the signs; bit i % 8 of a plane's byte i / 8 is coefficient i's.
constexpr size_t rotated_block_bytes(size_t size, int bits) { return sizeof(float) + size / 8 * bits; }

// The signs of a block are the 32 numbers from 32 * block on of the stream that the key names: bit i % 32 of
// the (i / 32)-th is value i's. Four of them at a time: those of an eighth of 128 values.
constexpr size_t kSignWords = kRotatedBlock / 32;
constexpr std::array<uint32_t, 4> sign_words(const RandomKey& key, uint32_t block, uint32_t eighth) {
  return philox4x32({8 * block + eighth, key.round, key.client, static_cast<uint32_t>(key.purpose)},
                    {static_cast<uint32_t>(key.seed), static_cast<uint32_t>(key.seed >> 32)});
}

// Without a division by zero: a block of zeros has the scale 0.
SUBFLEET_HOST_DEVICE constexpr float normaliser(float sigma) { return sigma > 0 ? 1.0f / sigma : 0.0f; }
SUBFLEET_HOST_DEVICE constexpr float block_scale(float sigma, float product) {
  return sent_scale(product > 0 ? sigma / product : sigma);
}

}  // namespace subfleet
