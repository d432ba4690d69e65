#include "wire/rotation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "wire/rotation_kernels.h"

namespace subfleet {
namespace {

using Block = std::array<float, kRotatedBlock>;

float with_sign(float value, bool minus) {
  return std::bit_cast<float>(std::bit_cast<uint32_t>(value) ^ (uint32_t{minus} << 31));
}

bool sign_of(const uint32_t* signs, size_t i) { return (signs[i / 32] >> (i % 32) & 1) != 0; }

float tree_sum(Block& values, size_t size) {
  for (size_t half = size / 2; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) values[i] += values[i + half];
  }
  return values[0];
}

void butterflies(float* values, size_t size, size_t distance) {
  for (size_t first = 0; first < size; first += 2 * distance) {
    float* low = values + first;
    float* high = low + distance;
    for (size_t i = 0; i < distance; ++i) {
      const float a = low[i], b = high[i];
      low[i] = a + b;
      high[i] = a - b;
    }
  }
}

}  // namespace

float encode_rotated(const float* values, size_t size, const uint32_t* signs, int bits, uint8_t* planes) {
  const Quantiser quantiser = lloyd_max(bits);
  Block y, products;
  for (size_t i = 0; i < size; ++i) {
    y[i] = with_sign(values[i], sign_of(signs, i));
    products[i] = y[i] * y[i];
  }
  const float sigma = std::sqrt(tree_sum(products, size));
  for (size_t distance = size / 2; distance > 0; distance /= 2) butterflies(y.data(), size, distance);

  const float per_value = normaliser(sigma);
  std::fill_n(planes, size / 8 * bits, uint8_t{0});
  for (size_t i = 0; i < size; ++i) {
    const float z = y[i] * per_value;
    const uint32_t node = quantiser.node_of(std::abs(z));
    products[i] = z * with_sign(quantiser.nodes[node], z < 0);
    const uint32_t code = (node - quantiser.levels) | (z < 0 ? quantiser.levels : 0);
    for (int plane = 0; plane < bits; ++plane) {
      const uint32_t bit = code >> plane & 1;
      planes[size / 8 * plane + i / 8] |= static_cast<uint8_t>(bit << (i % 8));
    }
  }
  return block_scale(sigma, tree_sum(products, size));
}

void decode_rotated(const uint8_t* planes, size_t size, float scale, const uint32_t* signs, int bits,
                    float* values) {
  const Quantiser quantiser = lloyd_max(bits);
  const auto bit_of = [&](int plane, size_t i) -> uint32_t {
    return planes[size / 8 * plane + i / 8] >> (i % 8) & 1;
  };
  for (size_t i = 0; i < size; ++i) {
    uint32_t level = 0;
    for (int plane = 0; plane + 1 < bits; ++plane) level |= bit_of(plane, i) << plane;
    values[i] = with_sign(quantiser.nodes[quantiser.levels + level], bit_of(bits - 1, i) != 0);
  }
  for (size_t distance = 1; distance < size; distance *= 2) butterflies(values, size, distance);
  for (size_t i = 0; i < size; ++i) values[i] = with_sign(values[i] * scale, sign_of(signs, i));
}

void transmit_rotated(float* values, size_t size, const uint32_t* signs, int bits) {
  std::array<uint8_t, kRotatedBlock / 8 * kMostBits> planes;
  const float scale = encode_rotated(values, size, signs, bits, planes.data());
  decode_rotated(planes.data(), size, scale, signs, bits, values);
}

std::vector<const RotationKernels*> usable_rotation_kernels() {
  static constexpr RotationKernels kPortable{
      .name = "portable",
      .encode = [](const float* values, const uint32_t* signs, int bits,
                   uint8_t* planes) { return encode_rotated(values, kRotatedBlock, signs, bits, planes); },
      .decode = [](const uint8_t* planes, float scale, const uint32_t* signs, int bits,
                   float* values) { decode_rotated(planes, kRotatedBlock, scale, signs, bits, values); },
      .transmit = [](float* values, const uint32_t* signs,
                     int bits) { transmit_rotated(values, kRotatedBlock, signs, bits); }};
  std::vector<const RotationKernels*> usable = special_rotation_kernels();
  usable.push_back(&kPortable);
  return usable;
}

}  // namespace subfleet
