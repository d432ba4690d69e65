#include <immintrin.h>

#include "wire/x86/rotate_block.h"
#include "wire/x86/rotation_x86.h"

namespace subfleet {
namespace {

struct Eight {
  using Integers = __m256i;
  static constexpr size_t kLanes = 8, kWide = 8;
  __m256 r;

  static Eight all(float value) { return {_mm256_set1_ps(value)}; }
  static Eight load(const float* from) { return {_mm256_loadu_ps(from)}; }
  void store(float* to) const { _mm256_storeu_ps(to, r); }
  static Eight add(Eight a, Eight b) { return {_mm256_add_ps(a.r, b.r)}; }
  static Eight sub(Eight a, Eight b) { return {_mm256_sub_ps(a.r, b.r)}; }
  static Eight mul(Eight a, Eight b) { return {_mm256_mul_ps(a.r, b.r)}; }
  static Eight magnitude(Eight a) { return {_mm256_andnot_ps(_mm256_set1_ps(-0.0f), a.r)}; }

  // See rotation_avx512.cpp.
  template <int kUpper>
  static Eight butterfly(Eight a, __m256 swapped) {
    const __m256 signs = _mm256_blend_ps(_mm256_set1_ps(1.0f), _mm256_set1_ps(-1.0f), kUpper);
    return {_mm256_fmadd_ps(a.r, signs, swapped)};
  }
  static Eight by4(Eight a) { return butterfly<0xF0>(a, _mm256_permute2f128_ps(a.r, a.r, 1)); }
  static Eight by2(Eight a) { return butterfly<0xCC>(a, _mm256_permute_ps(a.r, 0x4E)); }
  static Eight by1(Eight a) { return butterfly<0xAA>(a, _mm256_permute_ps(a.r, 0xB1)); }
  static Eight falling(Eight a) { return by1(by2(by4(a))); }
  static Eight rising(Eight a) { return by4(by2(by1(a))); }

  // All bits of those lanes whose bit is set.
  static __m256i chosen(uint32_t lanes) {
    const __m256i one_each = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    return _mm256_cmpeq_epi32(_mm256_and_si256(integers(lanes), one_each), one_each);
  }
  static Eight flip(Eight a, uint32_t lanes) {
    return {_mm256_xor_ps(a.r, _mm256_and_ps(_mm256_castsi256_ps(chosen(lanes)), _mm256_set1_ps(-0.0f)))};
  }
  static Eight flip(Eight a, const uint32_t* signs, size_t first) {
    return flip(a, signs[first / 32] >> (first % 32));
  }

  static Integers integers(uint32_t value) { return _mm256_set1_epi32(static_cast<int>(value)); }
  static uint32_t negative(Eight a) {
    return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(a.r, _mm256_setzero_ps(), _CMP_LT_OQ)));
  }
  static uint32_t bit(Integers a, int which) {
    return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_slli_epi32(a, 31 - which))));
  }
  static Integers set_bit(Integers a, int which, uint32_t lanes) {
    return _mm256_or_si256(a, _mm256_and_si256(chosen(lanes), _mm256_set1_epi32(1 << which)));
  }

  static Integers child(Integers node, Eight magnitude, Eight threshold) {
    const __m256i right = _mm256_castps_si256(_mm256_cmp_ps(magnitude.r, threshold.r, _CMP_GE_OQ));  // -1
    return _mm256_sub_epi32(_mm256_add_epi32(node, node), right);
  }

  // A row of up to 8 nodes lies in one register; a permutation reads only the lowest bits of a node.
  template <int kRow>
  static Eight look_up(const float* nodes, Integers node) {
    if constexpr (kRow == 0) return all(nodes[1]);
    if constexpr (kRow < 3) return {_mm256_permutevar8x32_ps(_mm256_loadu_ps(nodes), node)};
    if constexpr (kRow == 3) return {_mm256_permutevar8x32_ps(_mm256_loadu_ps(nodes + 8), node)};
    if constexpr (kRow > 3) return {_mm256_i32gather_ps(nodes, node, sizeof(float))};
  }
};

}  // namespace

const RotationKernels kAvx2Rotation = rotation_kernels<Eight>("avx2");

}  // namespace subfleet
