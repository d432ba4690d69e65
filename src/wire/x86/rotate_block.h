#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "wire/rotation.h"
#include "wire/rotation_kernels.h"

namespace subfleet {
namespace {

// A block of 1,024 values, in vectors of kLanes. Lane is one kind of vector unit. It has
//   load, store, all, add, sub, mul, and Integers, a vector of as many integers;
//   butterfly<distance>, within a vector;
//   flip, which changes the sign of lanes whose bit is set;
//   child: nodes one row down in a Quantiser; look_up: what is at nodes of a row;
//   bit and set_bit, for a plane of bits; negative, the lanes below 0, as bits.
template <typename Lane>
struct RotateBlock {
  using Integers = typename Lane::Integers;
  static constexpr size_t kLanes = Lane::kLanes;
  // Butterflies between vectors: kWide vectors at a time are in registers, then kMiddle, then kNarrow.
  static constexpr size_t kWide = Lane::kWide, kNarrow = 4;
  static constexpr size_t kMiddle = kRotatedBlock / kLanes / kWide / kNarrow;
  static constexpr size_t kApart = kRotatedBlock / kWide;  // values between those kWide vectors

  using Block = std::array<float, kRotatedBlock>;
  template <size_t kCount>
  using Vectors = std::array<Lane, kCount>;

  template <size_t kCount>
  static void load(Vectors<kCount>& v, const float* from, size_t apart) {
#pragma GCC unroll 16
    for (size_t k = 0; k < kCount; ++k) v[k] = Lane::load(from + k * apart);
  }

  template <size_t kCount>
  static void store(const Vectors<kCount>& v, float* to, size_t apart) {
#pragma GCC unroll 16
    for (size_t k = 0; k < kCount; ++k) v[k].store(to + k * apart);
  }

  template <size_t kDistance, size_t kCount>
  static void butterflies(Vectors<kCount>& v) {
#pragma GCC unroll 16
    for (size_t k = 0; k < kCount; ++k) {
      if ((k & kDistance) != 0) continue;
      const Lane a = v[k], b = v[k + kDistance];
      v[k] = Lane::add(a, b);
      v[k + kDistance] = Lane::sub(a, b);
    }
  }

  // At distances of kCount/2, ..., 1 vectors.
  template <size_t kCount>
  static void falling(Vectors<kCount>& v) {
    if constexpr (kCount >= 16) butterflies<8>(v);
    if constexpr (kCount >= 8) butterflies<4>(v);
    if constexpr (kCount >= 4) butterflies<2>(v);
    if constexpr (kCount >= 2) butterflies<1>(v);
  }

  template <size_t kCount>
  static void rising(Vectors<kCount>& v) {
    if constexpr (kCount >= 2) butterflies<1>(v);
    if constexpr (kCount >= 4) butterflies<2>(v);
    if constexpr (kCount >= 8) butterflies<4>(v);
    if constexpr (kCount >= 16) butterflies<8>(v);
  }

  // The first rows of a tree_sum; the result is in v[0].
  template <size_t kCount>
  static void sum_down(Vectors<kCount>& v) {
#pragma GCC unroll 4
    for (size_t half = kCount / 2; half > 0; half /= 2) {
#pragma GCC unroll 8
      for (size_t k = 0; k < half; ++k) v[k] = Lane::add(v[k], v[k + half]);
    }
  }

  // The rest of a tree_sum, from kApart values on.
  static float sum_rest(std::array<float, kApart>& values) {
    for (size_t half = kApart / 2; half > 0; half /= 2) {
      for (size_t i = 0; i < half; ++i) values[i] += values[i + half];
    }
    return values[0];
  }

  // Applies the signs and H; returns the values' energy.
  static float forward(const float* values, const uint32_t* signs, Block& y) {
    alignas(64) std::array<float, kApart> sums;
    for (size_t i = 0; i < kApart; i += kLanes) {
      Vectors<kWide> v;
      load(v, values + i, kApart);
      Vectors<kWide / 2> squares;
#pragma GCC unroll 8
      for (size_t k = 0; k < kWide / 2; ++k) {
        const Lane low = v[k], high = v[k + kWide / 2];
        squares[k] = Lane::add(Lane::mul(low, low), Lane::mul(high, high));
      }
      sum_down(squares);
#pragma GCC unroll 16
      for (size_t k = 0; k < kWide; ++k) v[k] = Lane::flip(v[k], signs, i + k * kApart);
      squares[0].store(sums.data() + i);
      falling(v);
      store(v, y.data() + i, kApart);
    }
    if constexpr (kMiddle > 1) {
      constexpr size_t kStep = kApart / kMiddle;
      for (size_t first = 0; first < kRotatedBlock; first += kApart) {
        for (size_t i = first; i < first + kStep; i += kLanes) {
          Vectors<kMiddle> v;
          load(v, y.data() + i, kStep);
          falling(v);
          store(v, y.data() + i, kStep);
        }
      }
    }
    for (size_t i = 0; i < kRotatedBlock; i += kNarrow * kLanes) {
      Vectors<kNarrow> v;
      load(v, y.data() + i, kLanes);
      falling(v);
#pragma GCC unroll 4
      for (size_t k = 0; k < kNarrow; ++k) {
        v[k] = Lane::falling(v[k]);
        __builtin_prefetch(values + kRotatedBlock + i + k * kLanes);  // the next block, if there is one
      }
      store(v, y.data() + i, kLanes);
    }
    return sum_rest(sums);
  }

  // Applies H, the scale and the signs.
  static void backward(Block& q, float scale, const uint32_t* signs, float* values) {
    for (size_t i = 0; i < kRotatedBlock; i += kNarrow * kLanes) {
      Vectors<kNarrow> v;
      load(v, q.data() + i, kLanes);
#pragma GCC unroll 4
      for (size_t k = 0; k < kNarrow; ++k) v[k] = Lane::rising(v[k]);
      rising(v);
      store(v, q.data() + i, kLanes);
    }
    if constexpr (kMiddle > 1) {
      constexpr size_t kStep = kApart / kMiddle;
      for (size_t first = 0; first < kRotatedBlock; first += kApart) {
        for (size_t i = first; i < first + kStep; i += kLanes) {
          Vectors<kMiddle> v;
          load(v, q.data() + i, kStep);
          rising(v);
          store(v, q.data() + i, kStep);
        }
      }
    }
    const Lane scales = Lane::all(scale);
    for (size_t i = 0; i < kApart; i += kLanes) {
      Vectors<kWide> v;
      load(v, q.data() + i, kApart);
      rising(v);
#pragma GCC unroll 16
      for (size_t k = 0; k < kWide; ++k) v[k] = Lane::flip(Lane::mul(v[k], scales), signs, i + k * kApart);
      store(v, values + i, kApart);
    }
  }

  // Calls take(first, nodes, centroids, values below 0) for every vector of coefficients; returns the scale.
  template <int kBits, typename Take>
  static float quantise(const Block& y, float energy, const Take& take) {
    static constexpr Quantiser kQuantiser = lloyd_max(kBits);
    const float sigma = std::sqrt(energy);
    const Lane per_value = Lane::all(normaliser(sigma));
    alignas(64) std::array<float, kApart> sums;
    const auto product = [&](size_t i) {
      const Lane z = Lane::mul(Lane::load(y.data() + i), per_value);
      const Lane magnitude = Lane::magnitude(z);
      Integers node = Lane::integers(1);
      descend<0, kBits>(kQuantiser, magnitude, node);
      const uint32_t minus = Lane::negative(z);
      const Lane q = Lane::flip(Lane::template look_up<kBits - 1>(kQuantiser.nodes, node), minus);
      take(i, node, q, minus);
      return Lane::mul(z, q);
    };
    for (size_t i = 0; i < kApart; i += kLanes) {
      Vectors<kWide / 2> products;
#pragma GCC unroll 8
      for (size_t k = 0; k < kWide / 2; ++k)
        products[k] = Lane::add(product(i + k * kApart), product(i + (k + kWide / 2) * kApart));
      sum_down(products);
      products[0].store(sums.data() + i);
    }
    return block_scale(sigma, sum_rest(sums));
  }

  template <int kRow, int kBits>
  static void descend(const Quantiser& quantiser, Lane magnitude, Integers& node) {
    if constexpr (kRow + 1 < kBits) {
      node = Lane::child(node, magnitude, Lane::template look_up<kRow>(quantiser.nodes, node));
      descend<kRow + 1, kBits>(quantiser, magnitude, node);
    }
  }

  template <int kBits>
  static float encode(const float* values, const uint32_t* signs, uint8_t* planes) {
    alignas(64) Block y;
    const float energy = forward(values, signs, y);
    return quantise<kBits>(y, energy, [&](size_t i, Integers node, Lane, uint32_t minus) {
#pragma GCC unroll 8
      for (int plane = 0; plane + 1 < kBits; ++plane)
        put_bits(Lane::bit(node, plane), planes + plane * (kRotatedBlock / 8) + i / 8);
      put_bits(minus, planes + (kBits - 1) * (kRotatedBlock / 8) + i / 8);
    });
  }

  template <int kBits>
  static void decode(const uint8_t* planes, float scale, const uint32_t* signs, float* values) {
    static constexpr Quantiser kQuantiser = lloyd_max(kBits);
    alignas(64) Block q;
    for (size_t i = 0; i < kRotatedBlock; i += kLanes) {
      Integers node = Lane::integers(kQuantiser.levels);
#pragma GCC unroll 8
      for (int plane = 0; plane + 1 < kBits; ++plane)
        node = Lane::set_bit(node, plane, get_bits(planes + plane * (kRotatedBlock / 8) + i / 8));
      const uint32_t minus = get_bits(planes + (kBits - 1) * (kRotatedBlock / 8) + i / 8);
      Lane::flip(Lane::template look_up<kBits - 1>(kQuantiser.nodes, node), minus).store(q.data() + i);
    }
    backward(q, scale, signs, values);
  }

  template <int kBits>
  static void transmit(float* values, const uint32_t* signs) {
    alignas(64) Block y;
    const float energy = forward(values, signs, y);
    const float scale =
        quantise<kBits>(y, energy, [&](size_t i, Integers, Lane q, uint32_t) { q.store(y.data() + i); });
    backward(y, scale, signs, values);
  }

  static void put_bits(uint32_t bits, uint8_t* to) { __builtin_memcpy(to, &bits, kLanes / 8); }
  static uint32_t get_bits(const uint8_t* from) {
    uint32_t bits = 0;
    __builtin_memcpy(&bits, from, kLanes / 8);
    return bits;
  }
};

// Calls work.operator()<bits>().
template <typename Work>
auto with_bits(int bits, const Work& work) {
  switch (bits) {
    case 1:
      return work.template operator()<1>();
    case 2:
      return work.template operator()<2>();
    case 3:
      return work.template operator()<3>();
    case 4:
      return work.template operator()<4>();
    case 5:
      return work.template operator()<5>();
    case 6:
      return work.template operator()<6>();
    case 7:
      return work.template operator()<7>();
    default:
      return work.template operator()<8>();
  }
}

template <typename Lane>
constexpr RotationKernels rotation_kernels(std::string_view name) {
  return {.name = name,
          .encode =
              [](const float* values, const uint32_t* signs, int bits, uint8_t* planes) {
                return with_bits(bits, [&]<int kBits>() {
                  return RotateBlock<Lane>::template encode<kBits>(values, signs, planes);
                });
              },
          .decode =
              [](const uint8_t* planes, float scale, const uint32_t* signs, int bits, float* values) {
                with_bits(bits, [&]<int kBits>() {
                  RotateBlock<Lane>::template decode<kBits>(planes, scale, signs, values);
                });
              },
          .transmit =
              [](float* values, const uint32_t* signs, int bits) {
                with_bits(bits,
                          [&]<int kBits>() { RotateBlock<Lane>::template transmit<kBits>(values, signs); });
              }};
}

}  // namespace
}  // namespace subfleet
