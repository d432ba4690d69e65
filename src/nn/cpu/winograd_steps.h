#pragma once

// The steps of Winograd's F(4x4, 5x5). They take filters, images and gradients to their values at the points
// 0, 1, -1, 2, -2, 1/2, -1/2 and infinity, and back (Lavin and Gray, "Fast Algorithms for Convolutional
// Neural Networks", 2016). Internal linkage only, as in dense_kernels.h.

#include <cstddef>

namespace subfleet::cpu {
namespace {

template <typename V>
V operator+(V a, V b) {
  return {a.r + b.r};
}
template <typename V>
V operator-(V a, V b) {
  return {a.r - b.r};
}
template <typename V>
V operator*(float c, V a) {
  return V::mul(V::all(c), a);
}
// c * a + b
template <typename V>
V add(float c, V a, V b) {
  return V::fma(V::all(c), a, b);
}

// What one step does to a line of the tile, and how many values it takes and makes. Points come in pairs of
// opposite sign, which share the line's even and odd parts.
struct InputStep {  // B^T
  static constexpr size_t kFrom = 8, kTo = 8;
  template <typename V>
  static void apply(const V (&d)[8], V (&o)[8]) {
    const V even1 = add(-4.25f, d[4], d[2] + d[6]), odd1 = add(-4.25f, d[3], d[1] + d[5]);
    const V even2 = add(0.25f, d[2], add(-1.25f, d[4], d[6]));
    const V odd2 = add(0.5f, d[1], add(-2.5f, d[3], 2.0f * d[5]));
    const V even3 = add(4.0f, d[2], add(-5.0f, d[4], d[6]));
    const V odd3 = add(0.5f, d[5], add(-2.5f, d[3], 2.0f * d[1]));
    o[0] = add(5.25f, d[4] - d[2], d[0] - d[6]);
    o[1] = even1 + odd1;
    o[2] = even1 - odd1;
    o[3] = even2 + odd2;
    o[4] = even2 - odd2;
    o[5] = even3 + odd3;
    o[6] = even3 - odd3;
    o[7] = add(5.25f, d[3] - d[5], d[7] - d[1]);
  }
};
struct InputBack {  // B
  static constexpr size_t kFrom = 8, kTo = 8;
  template <typename V>
  static void apply(const V (&g)[8], V (&o)[8]) {
    const V even1 = g[1] + g[2], odd1 = g[1] - g[2];
    const V even2 = g[3] + g[4], odd2 = g[3] - g[4];
    const V even3 = g[5] + g[6], odd3 = g[5] - g[6];
    o[0] = g[0];
    o[1] = add(0.5f, odd2, add(2.0f, odd3, odd1 - g[7]));
    o[2] = add(-5.25f, g[0], add(0.25f, even2, add(4.0f, even3, even1)));
    o[3] = add(5.25f, g[7], add(-2.5f, odd2 + odd3, -4.25f * odd1));
    o[4] = add(5.25f, g[0], add(-1.25f, even2, add(-5.0f, even3, -4.25f * even1)));
    o[5] = add(-5.25f, g[7], add(2.0f, odd2, add(0.5f, odd3, odd1)));
    o[6] = (even1 - g[0]) + (even2 + even3);
    o[7] = g[7];
  }
};
struct OutputStep {  // A^T
  static constexpr size_t kFrom = 8, kTo = 4;
  template <typename V>
  static void apply(const V (&m)[8], V (&o)[4]) {
    const V even1 = m[1] + m[2], odd1 = m[1] - m[2];
    const V even2 = m[3] + m[4], odd2 = m[3] - m[4];
    const V even3 = m[5] + m[6], odd3 = m[5] - m[6];
    o[0] = (m[0] + even1) + (even2 + even3);
    o[1] = add(2.0f, odd2, add(0.5f, odd3, odd1));
    o[2] = add(4.0f, even2, add(0.25f, even3, even1));
    o[3] = add(8.0f, odd2, add(0.125f, odd3, odd1 + m[7]));
  }
};
struct OutputBack {  // A
  static constexpr size_t kFrom = 4, kTo = 8;
  template <typename V>
  static void apply(const V (&y)[4], V (&o)[8]) {
    const V even1 = y[0] + y[2], odd1 = y[1] + y[3];
    const V even2 = add(4.0f, y[2], y[0]), odd2 = add(8.0f, y[3], 2.0f * y[1]);
    const V even3 = add(0.25f, y[2], y[0]), odd3 = add(0.125f, y[3], 0.5f * y[1]);
    o[0] = y[0];
    o[1] = even1 + odd1;
    o[2] = even1 - odd1;
    o[3] = even2 + odd2;
    o[4] = even2 - odd2;
    o[5] = even3 + odd3;
    o[6] = even3 - odd3;
    o[7] = y[3];
  }
};
struct FilterStep {  // G
  static constexpr size_t kFrom = 5, kTo = 8;
  template <typename V>
  static void apply(const V (&w)[5], V (&o)[8]) {
    const V even1 = (w[0] + w[2]) + w[4], odd1 = w[1] + w[3];
    const V even2 = add(4.0f, w[2], add(16.0f, w[4], w[0])), odd2 = add(8.0f, w[3], 2.0f * w[1]);
    const V even3 = add(32.0f, w[0], add(8.0f, w[2], 2.0f * w[4])), odd3 = add(16.0f, w[1], 4.0f * w[3]);
    o[0] = w[0];
    o[1] = (-2.0f / 9) * (even1 + odd1);
    o[2] = (-2.0f / 9) * (even1 - odd1);
    o[3] = (1.0f / 90) * (even2 + odd2);
    o[4] = (1.0f / 90) * (even2 - odd2);
    o[5] = (1.0f / 45) * (even3 + odd3);
    o[6] = (1.0f / 45) * (even3 - odd3);
    o[7] = w[4];
  }
};
struct FilterBack {  // G^T
  static constexpr size_t kFrom = 8, kTo = 5;
  template <typename V>
  static void apply(const V (&g)[8], V (&o)[5]) {
    const V even1 = (-2.0f / 9) * (g[1] + g[2]), odd1 = (-2.0f / 9) * (g[1] - g[2]);
    const V even2 = (1.0f / 90) * (g[3] + g[4]), odd2 = (1.0f / 90) * (g[3] - g[4]);
    const V even3 = (1.0f / 45) * (g[5] + g[6]), odd3 = (1.0f / 45) * (g[5] - g[6]);
    o[0] = add(32.0f, even3, (g[0] + even1) + even2);
    o[1] = add(2.0f, odd2, add(16.0f, odd3, odd1));
    o[2] = add(4.0f, even2, add(8.0f, even3, even1));
    o[3] = add(8.0f, odd2, add(4.0f, odd3, odd1));
    o[4] = add(16.0f, even2, add(2.0f, even3, even1 + g[7]));
  }
};

// Applies the step along both directions of a square, from load(row, column) to store(row, column, value).
template <typename Step, typename V, typename Load, typename Store>
void apply_twice(const Load& load, const Store& store) {
  V half[Step::kTo][Step::kFrom];
  for (size_t column = 0; column < Step::kFrom; ++column) {
    V line[Step::kFrom], made[Step::kTo];
#pragma GCC unroll 8
    for (size_t row = 0; row < Step::kFrom; ++row) line[row] = load(row, column);
    Step::apply(line, made);
#pragma GCC unroll 8
    for (size_t row = 0; row < Step::kTo; ++row) half[row][column] = made[row];
  }
  for (size_t row = 0; row < Step::kTo; ++row) {
    V made[Step::kTo];
    Step::apply(half[row], made);
#pragma GCC unroll 8
    for (size_t column = 0; column < Step::kTo; ++column) store(row, column, made[column]);
  }
}

}  // namespace
}  // namespace subfleet::cpu
