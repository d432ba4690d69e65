#include <immintrin.h>

#include "wire/x86/rotate_block.h"
#include "wire/x86/rotation_x86.h"

namespace subfleet {
namespace {

struct Sixteen {
  using Integers = __m512i;
  static constexpr size_t kLanes = 16, kWide = 16;
  __m512 r;

  static Sixteen all(float value) { return {_mm512_set1_ps(value)}; }
  static Sixteen load(const float* from) { return {_mm512_loadu_ps(from)}; }
  void store(float* to) const { _mm512_storeu_ps(to, r); }
  static Sixteen add(Sixteen a, Sixteen b) { return {_mm512_add_ps(a.r, b.r)}; }
  static Sixteen sub(Sixteen a, Sixteen b) { return {_mm512_sub_ps(a.r, b.r)}; }
  static Sixteen mul(Sixteen a, Sixteen b) { return {_mm512_mul_ps(a.r, b.r)}; }
  static Sixteen magnitude(Sixteen a) { return {_mm512_abs_ps(a.r)}; }

  // Butterflies within the vector: `swapped` has each lane's partner; the upper one of two is subtracted. A
  // product with 1 or -1 is exact, so that the fused operation rounds as the sum does.
  template <int kUpper>
  static Sixteen butterfly(Sixteen a, __m512 swapped) {
    const __m512 signs = _mm512_mask_blend_ps(kUpper, _mm512_set1_ps(1.0f), _mm512_set1_ps(-1.0f));
    return {_mm512_fmadd_ps(a.r, signs, swapped)};
  }
  static Sixteen by8(Sixteen a) { return butterfly<0xFF00>(a, _mm512_shuffle_f32x4(a.r, a.r, 0x4E)); }
  static Sixteen by4(Sixteen a) { return butterfly<0xF0F0>(a, _mm512_shuffle_f32x4(a.r, a.r, 0xB1)); }
  static Sixteen by2(Sixteen a) { return butterfly<0xCCCC>(a, _mm512_permute_ps(a.r, 0x4E)); }
  static Sixteen by1(Sixteen a) { return butterfly<0xAAAA>(a, _mm512_permute_ps(a.r, 0xB1)); }
  static Sixteen falling(Sixteen a) { return by1(by2(by4(by8(a)))); }
  static Sixteen rising(Sixteen a) { return by8(by4(by2(by1(a)))); }

  static Sixteen flip(Sixteen a, uint32_t lanes) {
    const __m512i bits = _mm512_castps_si512(a.r);
    const __m512i sign = _mm512_set1_epi32(static_cast<int>(0x80000000u));
    return {_mm512_castsi512_ps(_mm512_mask_xor_epi32(bits, static_cast<__mmask16>(lanes), bits, sign))};
  }
  static Sixteen flip(Sixteen a, const uint32_t* signs, size_t first) {
    return flip(a, signs[first / 32] >> (first % 32));
  }

  static Integers integers(uint32_t value) { return _mm512_set1_epi32(static_cast<int>(value)); }
  static uint32_t negative(Sixteen a) { return _mm512_cmp_ps_mask(a.r, _mm512_setzero_ps(), _CMP_LT_OQ); }
  static uint32_t bit(Integers a, int which) {
    return _mm512_test_epi32_mask(a, _mm512_set1_epi32(1 << which));
  }
  static Integers set_bit(Integers a, int which, uint32_t lanes) {
    return _mm512_mask_or_epi32(a, static_cast<__mmask16>(lanes), a, _mm512_set1_epi32(1 << which));
  }

  static Integers child(Integers node, Sixteen magnitude, Sixteen threshold) {
    const __mmask16 right = _mm512_cmp_ps_mask(magnitude.r, threshold.r, _CMP_GE_OQ);
    const __m512i left = _mm512_add_epi32(node, node);
    return _mm512_mask_or_epi32(left, right, left, _mm512_set1_epi32(1));
  }

  // A row of up to 16 nodes lies in one register, a longer one in several. A permutation reads only the
  // lowest bits of a node.
  template <int kRow>
  static Sixteen look_up(const float* nodes, Integers node) {
    if constexpr (kRow == 0) return all(nodes[1]);
    if constexpr (kRow < 4) return {_mm512_permutexvar_ps(node, _mm512_loadu_ps(nodes))};
    if constexpr (kRow == 4) return {_mm512_permutexvar_ps(node, _mm512_loadu_ps(nodes + 16))};
    if constexpr (kRow > 4) return {of_many<(1 << kRow)>(nodes + (1 << kRow), node)};
  }
  template <int kCount>
  static __m512 of_many(const float* nodes, Integers node) {
    if constexpr (kCount == 32) {
      return _mm512_permutex2var_ps(_mm512_loadu_ps(nodes), node, _mm512_loadu_ps(nodes + 16));
    } else {
      const __mmask16 upper = _mm512_test_epi32_mask(node, _mm512_set1_epi32(kCount / 2));
      return _mm512_mask_blend_ps(upper, of_many<kCount / 2>(nodes, node),
                                  of_many<kCount / 2>(nodes + kCount / 2, node));
    }
  }
};

}  // namespace

const RotationKernels kAvx512Rotation = rotation_kernels<Sixteen>("avx512");

}  // namespace subfleet
