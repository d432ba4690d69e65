#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/host_device.h"
#include "subfleet/random.h"
#include "wire/lloyd_max.h"
#include "wire/scale.h"

// The codecs rot1 to rot8 (DRIVE, Vargaftik et al. 2021; EDEN, 2022), as every device computes them. All
// arithmetic is f32, in the order given here, with each operation rounded on its own; so all devices give the
// same bits. For a block of n values x, n a power of two:
//
//   1. x_i changes its sign if bit i of the block's signs is set.
//   2. energy = tree_sum of x_i * x_i; sigma = sqrt(energy).
//   3. y = H x: butterflies (a, b) -> (a + b, a - b) at the distances n/2, n/4, ..., 1.
//   4. z_i = y_i * normaliser(sigma); q_i is the centroid of |z_i|, with a minus if z_i < 0.
//   5. scale = block_scale(sigma, tree_sum of z_i * q_i).
//   6. What arrives: H q, by butterflies at the distances 1, 2, ..., n/2, times the scale, with 1's signs.
//
// The orthonormal transforms' 1/sqrt(n) cancels out: y_i has the variance |x|^2, and the scale is EDEN's
// |x|^2 / <R x, q>. tree_sum adds the upper half of the values to the lower half until one is left.
namespace subfleet {

// Values in a block. The last block has the rest, filled with zeros up to a power of two.
constexpr size_t kRotatedBlock = 1024;
constexpr size_t kLeastRotatedBlock = 8;  // so that a plane of bits is whole bytes

// How many coefficients a block has that begins when `values_left` values, at least one, are left.
constexpr size_t rotated_block_size(size_t values_left) {
  size_t size = kLeastRotatedBlock;
  while (size < values_left && size < kRotatedBlock) size *= 2;
  return size;
}

// A block in a message: its scale, then `bits` planes of one bit per coefficient. Plane p holds bit p of the
// levels; the last plane holds the signs. Bit i % 8 of a plane's byte i / 8 belongs to coefficient i.
constexpr size_t rotated_block_bytes(size_t size, int bits) { return sizeof(float) + size / 8 * bits; }

// The signs of a block are the 32 numbers from 32 * block on in the stream that the key names. Bit i % 32 of
// number i / 32 belongs to value i. This gives four numbers at once: the signs of 128 values, an eighth of a
// block.
constexpr size_t kSignWords = kRotatedBlock / 32;
constexpr std::array<uint32_t, 4> sign_words(const RandomKey& key, uint32_t block, uint32_t eighth) {
  return philox4x32({8 * block + eighth, key.round, key.client, static_cast<uint32_t>(key.purpose)},
                    {static_cast<uint32_t>(key.seed), static_cast<uint32_t>(key.seed >> 32)});
}

// Avoids a division by zero: a block of zeros has the scale 0.
SUBFLEET_HOST_DEVICE constexpr float normaliser(float sigma) { return sigma > 0 ? 1.0f / sigma : 0.0f; }
SUBFLEET_HOST_DEVICE constexpr float block_scale(float sigma, float product) {
  return sent_scale(product > 0 ? sigma / product : sigma);
}

}  // namespace subfleet
